//! A call that a sandbox is planned for.

use toolwright_base::{Access, ToolSpec};
use toolwright_core::Prepared;

/// A call that policy permits.
pub struct PermittedCall<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The call itself.
    pub prepared: &'a dyn Prepared,
    /// True when a person confirmed it.
    pub is_confirmed: bool,
}

impl PermittedCall<'_> {
    /// True when the call runs a command.
    pub fn runs_commands(&self) -> bool {
        self.prepared.accesses().iter().any(|it| matches!(it, Access::Run(_)))
    }
}
