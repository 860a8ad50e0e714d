//! The sandbox of a call's commands and hooks. Calls that start neither get none, because planning one costs
//! allocations on every call.

use toolwright_core::{CommandSandbox, Entry, Prepared, ToolContext};
use toolwright_sandbox::PermittedCall;

use super::Pipeline;

impl Pipeline {
    /// The sandbox of a call's hooks, before policy has judged the call.
    pub(super) fn sandbox_before_judgement(
        &self,
        entry: &Entry,
        cx: &ToolContext,
    ) -> CommandSandbox {
        if !self.hooks.run_before(&entry.tool.spec().name) {
            return CommandSandbox::none();
        }
        self.sandbox_plans.before_judgement(&self.engine(cx), self.sessions.shared())
    }

    /// The sandbox of a permitted call's commands and hooks.
    pub(super) fn sandbox(
        &self,
        entry: &Entry,
        prepared: &dyn Prepared,
        is_confirmed: bool,
        cx: &ToolContext,
    ) -> CommandSandbox {
        let spec = entry.tool.spec();
        let call = PermittedCall { spec, prepared, is_confirmed };
        if !call.runs_commands() && !self.hooks.watch(&spec.name) {
            return CommandSandbox::none();
        }
        self.sandbox_plans.of_call(&self.engine(cx), &call, self.sessions.shared())
    }

    /// The sandbox of the programs of MCP servers.
    pub fn server_sandbox(&self) -> CommandSandbox {
        self.sandbox_plans.of_servers(&self.policy, self.sessions.shared())
    }
}
