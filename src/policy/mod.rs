//! May this call run? Pure: no I/O, no waiting, the same question gives the same answer.
//!
//! For now there are two answers: a tool the host switched off is denied, every other is allowed.

use crate::{
    error::{ErrorKind, ToolError},
    registry::Snapshot,
    tool::{Prepared, ToolSpec},
};

/// What policy says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// Somebody has to agree first.
    Ask {
        /// Why.
        reason: String,
    },
    /// It must not run.
    Deny(ToolError),
}

impl Decision {
    /// The word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// Judges calls.
#[derive(Debug, Default)]
pub struct Policy;

impl Policy {
    /// Judges a prepared call by what it declares, never by guessing at its JSON.
    pub fn decide(&self, tools: &Snapshot, spec: &ToolSpec, _call: &dyn Prepared) -> Decision {
        if tools.is_disabled(&spec.name) {
            return Decision::Deny(ToolError::new(
                ErrorKind::ToolDisabled,
                format!(
                    "the host has disabled `{}` (`disallowedTools`); use another tool",
                    spec.name
                ),
            ));
        }
        Decision::Allow
    }
}
