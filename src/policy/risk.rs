//! How much harm a call could do.

use crate::tool::{Annotations, Risk, SideEffect};

use super::question::Origin;

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

/// The risk of a tool of which only the name is known.
pub(super) fn of_name(name: &str) -> Risk {
    if name.starts_with("mcp__") { Risk::High } else { side_effect_by_name(name).risk() }
}

/// What a tool that nobody knows leaves behind: the seeds tell by how its name begins.
pub(super) fn side_effect_by_name(name: &str) -> SideEffect {
    if name.starts_with("read") { SideEffect::None } else { SideEffect::Mutating }
}

/// Low, medium or high.
pub(super) const fn three_levels(risk: Risk) -> Risk {
    match risk {
        Risk::None | Risk::Low => Risk::Low,
        Risk::Medium => Risk::Medium,
        Risk::High | Risk::Critical => Risk::High,
    }
}
