//! What policy is asked: one call, with everything it will touch.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tool::{Access, Annotations, SideEffect};

use super::{
    places::normal,
    tool_names::{self, Family},
};

/// Where a tool comes from, as far as trust goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of toolwright.
    Builtin,
    /// The host's own, or a plugin's.
    Host,
    /// Of an MCP server.
    Mcp,
}

/// Where an absolute path leads, where the caller can look at the disk; policy itself cannot. `None` for
/// what cannot be told.
pub type FollowLinks<'a> = &'a (dyn Fn(&Path) -> Option<PathBuf> + Sync);

/// One call to be judged.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The tool's registered name.
    pub tool: &'a str,
    /// Where it comes from.
    pub origin: Origin,
    /// What a call leaves behind.
    pub side_effect: SideEffect,
    /// MCP's hints.
    pub annotations: &'a Annotations,
    /// The input, after coercion.
    pub input: &'a Value,
    /// What the call will touch, resolved.
    pub accesses: &'a [Access],
    /// The directory a command line starts in.
    pub directory: &'a Path,
    /// Finds the real place of paths in command lines; without it they are taken as written.
    pub follow_links: Option<FollowLinks<'a>>,
}

/// The parameters of built-in tools that are paths.
pub(super) const PATHS: [&str; 4] = ["file_path", "path", "paths", "notebook_path"];

impl Question<'_> {
    /// The family of a built-in tool. A host's tool of the same name is not one of them.
    pub(super) fn family(&self) -> Option<Family> {
        tool_names::family(self.tool).filter(|_| self.origin == Origin::Builtin)
    }

    /// Where an absolute path of a command line leads.
    pub(super) fn place_of(&self, path: &Path) -> Option<PathBuf> {
        match self.follow_links {
            Some(follow) => follow(path),
            None => Some(normal(path)),
        }
    }
}

/// What a built-in tool would touch, from its parameters alone. For engines that stand alone; in the
/// pipeline, tools declare their accesses themselves.
pub(super) fn accesses_of(tool: &str, input: &Value, project: &Path) -> Vec<Access> {
    let texts = |names: &[&str]| -> Vec<String> {
        names
            .iter()
            .filter_map(|name| input.get(name))
            .flat_map(|it| match it {
                Value::String(text) => vec![text.clone()],
                Value::Array(items) => {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    };
    let paths = |names: &[&str]| texts(names).into_iter().map(|it| normal(&project.join(it)));
    match tool_names::family(tool) {
        Some(Family::Reading) => paths(&PATHS).map(Access::Read).collect(),
        Some(Family::Editing) => paths(&PATHS).map(Access::Write).collect(),
        Some(Family::Shell) => texts(&["command"]).into_iter().map(Access::Run).collect(),
        Some(Family::Fetching) => texts(&["url"]).into_iter().map(Access::Connect).collect(),
        None => Vec::new(),
    }
}
