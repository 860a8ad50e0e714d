//! The side effect of a call, from which its risk follows.

use toolwright_base::{Annotations, HintsFrom, Risk, SideEffect};

use super::question::{Origin, Question};

/// The side effect of a call: the one that the tool declares, or for a tool of an MCP server the one that its
/// hints imply.
pub(super) fn believed_side_effect(question: &Question) -> SideEffect {
    match question.origin {
        Origin::Builtin | Origin::Host => question.side_effect,
        Origin::Mcp => question.annotations.side_effect(HintsFrom::McpServer),
    }
}

/// The side effect of an unknown tool, guessed from its name.
pub(super) fn side_effect_by_name(name: &str) -> SideEffect {
    match Origin::of_name(name) {
        Origin::Mcp => Annotations::default().side_effect(HintsFrom::McpServer),
        Origin::Builtin | Origin::Host if name.starts_with("read") => SideEffect::None,
        Origin::Builtin | Origin::Host => SideEffect::Mutating,
    }
}

/// The risk reduced to low, medium or high.
pub(super) const fn three_levels(risk: Risk) -> Risk {
    match risk {
        Risk::None | Risk::Low => Risk::Low,
        Risk::Medium => Risk::Medium,
        Risk::High | Risk::Critical => Risk::High,
    }
}
