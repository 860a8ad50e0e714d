//! Tools that do not exist yet.
//!
//! Policies already name them, and a policy engine without a registry is asked about them, so their kinds are
//! listed here. Remove the entry of a tool when you add the tool.

use crate::tool::{KnownTool, SideEffect, ToolKind};

const fn planned(name: &'static str, side_effect: SideEffect, kind: ToolKind) -> KnownTool {
    KnownTool { name, aliases: &[], side_effect, kind }
}

/// The planned tools, with what policy needs to know about each.
pub(super) const TOOLS: &[KnownTool] = &[
    KnownTool { aliases: &["Task"], ..planned("Agent", SideEffect::Spawns, ToolKind::PLAIN) },
    planned("AskUserQuestion", SideEffect::ReadOnly, ToolKind::PLAIN),
    planned("Config", SideEffect::ReadOnly, ToolKind::PLAIN),
    planned("ExitPlanMode", SideEffect::ReadOnly, ToolKind::PLAIN),
    planned("ListMcpResources", SideEffect::ReadOnly, ToolKind::PLAIN.running_unasked()),
    planned("ReadMcpResource", SideEffect::ReadOnly, ToolKind::PLAIN.running_unasked()),
    planned("SendMessage", SideEffect::Spawns, ToolKind::PLAIN),
    planned("TeamCreate", SideEffect::Spawns, ToolKind::PLAIN),
    planned("TeamDelete", SideEffect::Spawns, ToolKind::PLAIN),
    planned("TodoWrite", SideEffect::None, ToolKind::PLAIN),
    planned("memory", SideEffect::Mutating, ToolKind::PLAIN),
    planned("write_todos", SideEffect::None, ToolKind::PLAIN.twin_of("TodoWrite")),
    planned("file-reader", SideEffect::None, ToolKind::reads_files(&["path"])),
    planned("git-diff-summary", SideEffect::None, ToolKind::PLAIN.running_unasked()),
    planned("git-status", SideEffect::None, ToolKind::PLAIN.running_unasked()),
    planned("workspace-info", SideEffect::None, ToolKind::PLAIN.running_unasked()),
];
