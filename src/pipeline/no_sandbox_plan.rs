//! Systems on which commands have no sandbox.

use super::Pipeline;
use crate::{
    registry::Entry,
    tool::{CommandSandbox, Prepared, ToolContext},
};

/// What plans share: nothing.
#[derive(Debug, Default)]
pub(super) struct SandboxPlans;

impl Pipeline {
    /// What the commands of a call are held to that policy has not judged.
    pub(super) fn sandbox_before_judgement(&self, _cx: &ToolContext) -> CommandSandbox {
        CommandSandbox::none()
    }

    /// What the commands of a call are held to that may run.
    pub(super) fn sandbox(
        &self,
        _entry: &Entry,
        _prepared: &dyn Prepared,
        _is_agreed: bool,
        _cx: &ToolContext,
    ) -> CommandSandbox {
        CommandSandbox::none()
    }

    /// What the programs of MCP servers are held to.
    pub(crate) fn server_sandbox(&self) -> CommandSandbox {
        CommandSandbox::none()
    }
}
