//! Which files a tool may see that its call does not name, or that policy has not judged yet.

use serde_json::Value;
use toolwright_base::{Access, Annotations, ToolFamily};
use toolwright_core::{Entry, ToolContext};
use toolwright_files::Visibility;
use toolwright_policy::{Action, Basis, Origin, Question};

use super::Pipeline;

impl Pipeline {
    /// The files that a tool may see while it walks directories. Files that policy denies or would ask
    /// about are neither opened nor listed.
    pub(super) fn visibility(&self, entry: &Entry, cx: &ToolContext) -> Visibility {
        let engine = self.engine(cx);
        if !engine.has_path_limits() {
            return Visibility::everything();
        }
        let spec = entry.tool.spec();
        let (tool, kind) = (spec.name.clone(), spec.kind);
        Visibility::judged_by(move |path, _subject| !engine.hides(&tool, &kind, path))
    }

    /// The files that a tool may report on while a call is prepared, before policy judges it. Files
    /// that a rule denies or asks about are not visible.
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
                directory: session.shared.files.roots.first(),
                follow_links: None,
            });
            match verdict.action {
                Action::Allow => true,
                // An edit that no rule is about asks before it changes a file, not before it reads one.
                Action::Ask => verdict.basis == Basis::Default,
                Action::Deny => false,
            }
        })
    }
}
