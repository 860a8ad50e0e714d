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
    planned("WebFetch", SideEffect::Network, ToolKind::fetches(&["url"]).naming_its_family()),
    planned("WebSearch", SideEffect::Network, ToolKind::PLAIN),
    planned("web_fetch", SideEffect::Network, ToolKind::fetches(&["url"]).twin_of("WebFetch")),
    planned("web_search", SideEffect::Network, ToolKind::PLAIN.twin_of("WebSearch")),
];
