//! The question that policy answers: a call, with everything it will touch.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwright_base::{
    Access, Annotations, InPlanMode, KnownTool, SideEffect, ToolCatalogue, ToolFamily, ToolKind,
};

use super::places::{PolicyPlaces, normal};

/// Who provides a tool. This decides how much the tool is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A tool that comes with toolwright.
    Builtin,
    /// A tool of the host or of a plugin.
    Host,
    /// A tool of an MCP server.
    Mcp,
}

impl Origin {
    /// The origin of a tool, guessed from its name.
    pub fn of_name(name: &str) -> Self {
        if name.starts_with("mcp__") { Self::Mcp } else { Self::Host }
    }
}

/// Returns the place that an absolute path leads to, or `None` if it is not known. The caller provides it,
/// because policy itself does not look at the disk.
pub(crate) type FollowLinks<'a> = &'a (dyn Fn(&Path) -> Option<PathBuf> + Sync);

/// A call to be judged.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The tool's registered name.
    pub tool: &'a str,
    /// Where it comes from.
    pub origin: Origin,
    /// The side effect of a call.
    pub side_effect: SideEffect,
    /// What kind of tool it is.
    pub kind: &'a ToolKind,
    /// The MCP hints of the tool.
    pub annotations: &'a Annotations,
    /// The input, after coercion.
    pub input: &'a Value,
    /// What the call will touch, with paths resolved.
    pub accesses: &'a [Access],
    /// The directory in which a command line starts.
    pub directory: &'a Path,
    /// Resolves paths in command lines. Without it, they are taken as written.
    pub follow_links: Option<FollowLinks<'a>>,
}

impl<'a> Question<'a> {
    /// The question whether a built-in tool may touch these things, without the rest of a call.
    pub(super) fn about_accesses(
        tool: &'a str,
        kind: &'a ToolKind,
        side_effect: SideEffect,
        accesses: &'a [Access],
        places: &'a PolicyPlaces,
    ) -> Self {
        Self {
            tool,
            origin: Origin::Builtin,
            side_effect,
            kind,
            annotations: &Annotations::NONE,
            input: &Value::Null,
            accesses,
            directory: &places.project,
            follow_links: None,
        }
    }
}

impl Question<'_> {
    /// The family of a built-in tool; `None` for tools of hosts and MCP servers.
    pub(super) fn family(&self) -> Option<ToolFamily> {
        self.kind.family.filter(|_| self.origin == Origin::Builtin)
    }

    /// True for a built-in tool whose calls run without asking if no rule decides.
    pub(super) fn runs_unasked(&self) -> bool {
        self.origin == Origin::Builtin && self.kind.runs_unasked
    }

    /// How plan mode treats the tool.
    pub(super) fn in_plan_mode(&self) -> InPlanMode {
        if self.origin == Origin::Builtin { self.kind.in_plan_mode } else { InPlanMode::Limited }
    }

    /// The place that an absolute path of a command line leads to.
    pub(super) fn place_of(&self, path: &Path) -> Option<PathBuf> {
        match self.follow_links {
            Some(follow) => follow(path),
            None => Some(normal(path)),
        }
    }
}

/// What a built-in tool would touch, derived from its parameters. This is for engines without a registry; in
/// the pipeline, tools declare their accesses.
///
/// A parameter that names a file for one tool counts as a file for every tool that touches files, because a
/// caller without a registry may use the parameters of another tool set.
pub(super) fn accesses_of(
    tool: &KnownTool,
    tools: &ToolCatalogue,
    input: &Value,
    project: &Path,
) -> Vec<Access> {
    let Some(family) = tool.kind.family else { return Vec::new() };
    let touches_files = |it| matches!(it, ToolFamily::ReadsFiles | ToolFamily::EditsFiles);
    let is_alike =
        |other: ToolFamily| other == family || (touches_files(other) && touches_files(family));
    let alike = tools.tools().filter(|it| it.kind.family.is_some_and(is_alike));
    let mut names: Vec<&str> = alike.flat_map(|it| it.kind.inputs).copied().collect();
    names.sort_unstable();
    names.dedup();
    let values = names.iter().filter_map(|name| input.get(name));
    let texts = values.flat_map(|it| match it {
        Value::String(text) => vec![text.as_str()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    let place = |text: &str| normal(&project.join(text));
    texts
        .map(|text| match family {
            ToolFamily::ReadsFiles => Access::Read(place(text)),
            ToolFamily::EditsFiles => Access::Write(place(text)),
            ToolFamily::RunsCommands => Access::Run(text.to_owned()),
            ToolFamily::Fetches => Access::Connect(text.to_owned()),
        })
        .collect()
}
