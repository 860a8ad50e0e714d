//! How much harm a call could do.

use crate::tool::{Annotations, Risk, SideEffect};

use super::{question::Origin, tool_names};

/// The risk of a call: the table of side effects, or for a tool of an MCP server what it says of
/// itself. A server that says nothing is taken for the worse.
pub(super) fn of_call(origin: Origin, effect: SideEffect, annotations: &Annotations) -> Risk {
    match origin {
        Origin::Builtin | Origin::Host => effect.risk(),
        Origin::Mcp => match annotations {
            // Both at once is a contradiction, and the worse half is believed.
            Annotations { destructive_hint: Some(true), .. } => Risk::Critical,
            Annotations { read_only_hint: Some(true), .. } => Risk::Low,
            _ => Risk::High,
        },
    }
}

/// The three levels of the seeds, for a tool of which only the name is known.
pub(super) fn of_name(name: &str) -> Risk {
    if name.starts_with("mcp__") {
        return Risk::High;
    }
    tool_names::side_effect(name).map_or(Risk::Medium, |it| three_levels(it.risk()))
}

/// Low, medium or high.
pub(super) const fn three_levels(risk: Risk) -> Risk {
    match risk {
        Risk::None | Risk::Low => Risk::Low,
        Risk::Medium => Risk::Medium,
        Risk::High | Risk::Critical => Risk::High,
    }
}
