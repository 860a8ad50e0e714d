//! What a tool may know of files that its call does not name, or that policy has not judged yet.

use serde_json::Value;

use super::Pipeline;
use crate::{
    policy::{Action, Basis, Origin, Question},
    registry::Entry,
    tool::{Access, Annotations, ToolContext, ToolFamily},
    workspace::walk::Visibility,
};

impl Pipeline {
    /// What a tool that walks over files may know of them: what policy denies, or would ask for, is
    /// neither opened nor listed.
    pub(super) fn visibility(&self, entry: &Entry, cx: &ToolContext) -> Visibility {
        let engine = self.engine(cx);
        if !engine.has_path_limits() {
            return Visibility::everything();
        }
        let spec = entry.tool.spec();
        let (tool, kind) = (spec.name.clone(), spec.kind);
        Visibility::judged_by(move |path, _subject| !engine.hides(&tool, &kind, path))
    }

    /// What a tool may tell of the places that a call names while the call is prepared, which is before
    /// policy judges it: nothing of what a rule denies or has a person asked about.
    pub(super) fn visibility_before_judgement(
        &self,
        entry: &Entry,
        cx: &ToolContext,
    ) -> Visibility {
        let spec = entry.tool.spec();
        let touches_files =
            matches!(spec.kind.family, Some(ToolFamily::ReadsFiles | ToolFamily::EditsFiles));
        if !touches_files {
            return Visibility::everything();
        }
        let (engine, session) = (self.engine(cx), cx.session.clone());
        let (tool, kind, side_effect) = (spec.name.clone(), spec.kind, spec.side_effect);
        Visibility::judged_by(move |path, _subject| {
            let verdict = engine.decide(&Question {
                tool: &tool,
                origin: Origin::Builtin,
                side_effect,
                kind: &kind,
                annotations: &Annotations::default(),
                input: &Value::Null,
                accesses: &[Access::Read(path.to_owned())],
                directory: session.shared.roots.first(),
                follow_links: None,
            });
            match verdict.action {
                Action::Allow => true,
                // An edit that nobody made a rule about asks before it changes a file, not before it
                // looks at one.
                Action::Ask => verdict.basis == Basis::Default,
                Action::Deny => false,
            }
        })
    }
}
