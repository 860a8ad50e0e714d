//! What policy knows of the built-in tools by name: aliases, families, and which ones only look.

use crate::tool::SideEffect;

/// What the pattern of a rule `Tool(pattern)` speaks about. Such a rule covers its whole family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Tools that look at files.
    Reading,
    /// Tools that change files.
    Editing,
    /// Tools that run command lines.
    Shell,
    /// Tools that fetch a URL.
    Fetching,
}

/// The same tool in several sets, with its aliases; the first is the name of rules.
const TWINS: [&[&str]; 10] = [
    &["Bash", "shell"],
    &["Read", "read_file", "FileRead"],
    &["Write", "write_file", "FileWrite"],
    &["Edit", "edit_file", "FileEdit"],
    &["Glob", "glob"],
    &["Grep", "grep"],
    &["WebFetch", "web_fetch"],
    &["WebSearch", "web_search"],
    &["TodoWrite", "write_todos"],
    &["Agent", "Task"],
];

const ALIASES: [(&str, &str); 4] =
    [("FileRead", "Read"), ("FileWrite", "Write"), ("FileEdit", "Edit"), ("Task", "Agent")];

/// Every tool that changes files: what a limit for `Edit` is about.
pub(super) const EDITING: [&str; 5] = ["Edit", "NotebookEdit", "Write", "edit_file", "write_file"];

/// Built-in tools that run without asking: they only look.
pub const AUTO_ALLOWED: [&str; 14] = [
    "Glob",
    "Grep",
    "ListMcpResources",
    "Read",
    "ReadMcpResource",
    "file-reader",
    "git-diff-summary",
    "git-status",
    "glob",
    "grep",
    "ls",
    "read_file",
    "read_many_files",
    "workspace-info",
];

/// The registered name of an alias.
pub(super) fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool)
}

/// Every name that a rule string without a pattern covers: the tool and the same tool in other sets.
pub(super) fn twins(name: &str) -> Vec<&str> {
    let found = TWINS.iter().find(|it| it.contains(&name));
    found.map_or_else(|| vec![name], |it| it.to_vec())
}

/// The tool that somebody names, with its aliases and the same tool in other sets.
pub fn same_tools(name: &str) -> Vec<String> {
    twins(canonical(name.trim())).into_iter().map(str::to_owned).collect()
}

/// The family of a built-in tool.
pub(super) fn family(name: &str) -> Option<Family> {
    match canonical(name) {
        "Read" | "read_file" | "read_many_files" | "file-reader" | "Grep" | "grep" | "Glob"
        | "glob" | "ls" => Some(Family::Reading),
        name if EDITING.contains(&name) => Some(Family::Editing),
        "Bash" | "shell" => Some(Family::Shell),
        "WebFetch" | "web_fetch" => Some(Family::Fetching),
        _ => None,
    }
}

/// True for the built-in tools that run without asking.
pub(super) fn is_auto_allowed(name: &str) -> bool {
    AUTO_ALLOWED.contains(&canonical(name))
}

/// What a tool leaves behind, where nothing but its name is known.
pub(super) fn side_effect(name: &str) -> Option<SideEffect> {
    match canonical(name) {
        "Read" | "read_file" | "read_many_files" | "file-reader" | "Grep" | "grep" | "Glob"
        | "glob" | "ls" | "TodoWrite" | "write_todos" | "git-status" | "git-diff-summary"
        | "workspace-info" => Some(SideEffect::None),
        "Config" | "ListMcpResources" | "ReadMcpResource" | "AskUserQuestion" | "ExitPlanMode"
        | "TaskOutput" => Some(SideEffect::ReadOnly),
        "Edit" | "edit_file" | "Write" | "write_file" | "NotebookEdit" | "memory" => {
            Some(SideEffect::Mutating)
        }
        "Bash" | "shell" | "WebFetch" | "web_fetch" | "WebSearch" | "web_search" => {
            Some(SideEffect::Network)
        }
        "TaskStop" => Some(SideEffect::Blocking),
        "Agent" => Some(SideEffect::Spawns),
        // The seeds tell unknown tools by how their names begin.
        other if other.starts_with("read") => Some(SideEffect::None),
        other if other.starts_with("write") || other.starts_with("edit") => {
            Some(SideEffect::Mutating)
        }
        _ => None,
    }
}
