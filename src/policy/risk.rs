//! What a call may leave behind, and by that how much harm it could do.

use crate::tool::{Annotations, HintsFrom, Risk, SideEffect};

use super::question::{Origin, Question};

/// What a call leaves behind, as far as it is believed: what a tool says of itself, and for the tool of an
/// MCP server what follows from its hints.
pub(super) fn believed_side_effect(question: &Question) -> SideEffect {
    match question.origin {
        Origin::Builtin | Origin::Host => question.side_effect,
        Origin::Mcp => question.annotations.side_effect(HintsFrom::McpServer),
    }
}

/// What a tool leaves behind of which only the name is known. For tools that are not an MCP server's, the
/// seeds go by how the name begins.
pub(super) fn side_effect_by_name(name: &str) -> SideEffect {
    match Origin::of_name(name) {
        Origin::Mcp => Annotations::default().side_effect(HintsFrom::McpServer),
        Origin::Builtin | Origin::Host if name.starts_with("read") => SideEffect::None,
        Origin::Builtin | Origin::Host => SideEffect::Mutating,
    }
}

/// The three levels that rules know.
pub(super) const fn three_levels(risk: Risk) -> Risk {
    match risk {
        Risk::None | Risk::Low => Risk::Low,
        Risk::Medium => Risk::Medium,
        Risk::High | Risk::Critical => Risk::High,
    }
}
