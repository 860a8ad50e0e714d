//! Systems on which commands have no sandbox.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright_base::ToolError;
use toolwright_core::{CommandSandbox, PlannedSandbox, SharedState};
use toolwright_policy::{CurrentPolicy, PolicyEngine};

use crate::{PermittedCall, SandboxExplanation};

/// Plans no sandboxes.
#[derive(Debug, Default)]
pub struct SandboxPlans;

impl SandboxPlans {
    /// The sandbox of a call's hooks: none.
    pub fn before_judgement(
        self: &Arc<Self>,
        _engine: &Arc<PolicyEngine>,
        _shared: &SharedState,
    ) -> CommandSandbox {
        CommandSandbox::none()
    }

    /// The sandbox of a permitted call's commands: none.
    pub fn of_call(
        self: &Arc<Self>,
        _engine: &Arc<PolicyEngine>,
        _call: &PermittedCall<'_>,
        _shared: &SharedState,
    ) -> CommandSandbox {
        CommandSandbox::none()
    }

    /// Explains that the command of a call would get no sandbox; none if the call runs no command.
    #[expect(clippy::unnecessary_wraps, reason = "as on systems that have a sandbox")]
    pub fn explained(
        self: &Arc<Self>,
        _engine: &Arc<PolicyEngine>,
        call: &PermittedCall<'_>,
        _shared: &SharedState,
        _cancel: &CancellationToken,
    ) -> Result<Option<SandboxExplanation>, ToolError> {
        Ok(call.runs_commands().then(|| SandboxExplanation::of(&PlannedSandbox::default())))
    }

    /// The sandbox of the programs of MCP servers: none.
    pub fn of_servers(
        self: &Arc<Self>,
        _policy: &Arc<CurrentPolicy>,
        _shared: &SharedState,
    ) -> CommandSandbox {
        CommandSandbox::none()
    }
}
