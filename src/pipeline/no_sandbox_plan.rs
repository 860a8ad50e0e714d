//! Systems on which commands have no sandbox.

#[path = "sandbox_plan/explanation.rs"]
mod explanation;

pub use self::explanation::{ExplainedCall, SandboxExplanation};
use super::Pipeline;
use crate::{
    error::ToolError,
    registry::Entry,
    tool::{Access, CommandSandbox, PlannedSandbox, Prepared, ToolContext},
};

/// What plans share: nothing.
#[derive(Debug, Default)]
pub(super) struct NoSandboxPlans;

pub(super) use NoSandboxPlans as SandboxPlans;

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

    /// What the command of a call would be held to; none if it runs none.
    #[expect(clippy::unnecessary_wraps, reason = "as on systems that have a sandbox")]
    pub(super) fn explained_sandbox(
        &self,
        _entry: &Entry,
        prepared: &dyn Prepared,
        _cx: &ToolContext,
    ) -> Result<Option<SandboxExplanation>, ToolError> {
        let runs = prepared.accesses().iter().any(|it| matches!(it, Access::Run(_)));
        Ok(runs.then(|| SandboxExplanation::of(&PlannedSandbox::default())))
    }

    /// What the programs of MCP servers are held to.
    pub(crate) fn server_sandbox(&self) -> CommandSandbox {
        CommandSandbox::none()
    }
}
