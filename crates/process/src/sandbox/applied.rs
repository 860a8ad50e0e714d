//! The sandbox that was applied to a started command, and the restrictions that could not be
//! applied.

use std::sync::Arc;

use toolwright_command_protocol::{CommandNetwork, SandboxLevel, SandboxPlan, SandboxSupport};

/// The sandbox of a started command.
#[derive(Clone, Debug, Default)]
pub struct AppliedSandbox {
    /// Its plan. `None` if it has no sandbox.
    pub plan: Option<Arc<SandboxPlan>>,
    /// Why the level is not higher. `None` for the best level, and without a plan.
    pub cause: Option<String>,
    /// Why it may be restricted less than the policy says.
    pub incomplete: Option<String>,
    /// Restrictions in the policy and the options that the sandbox does not enforce, each as a
    /// sentence.
    pub not_held: Vec<String>,
}

impl AppliedSandbox {
    /// The level of the sandbox.
    pub fn level(&self) -> SandboxLevel {
        self.plan.as_ref().map_or(SandboxLevel::None, |it| it.level)
    }

    /// Adds the parts of the plan that the machine cannot enforce.
    pub(crate) fn add_gaps(&mut self, support: &SandboxSupport) {
        if let Some(plan) = &self.plan {
            self.cause = Some(support.why_not_better()).filter(|it| !it.is_empty());
            self.not_held.extend(gaps(plan, support).into_iter().map(str::to_owned));
        }
    }
}

/// The parts of a plan that a machine cannot enforce, apart from files.
fn gaps(plan: &SandboxPlan, support: &SandboxSupport) -> Vec<&'static str> {
    let mut gaps = Vec::new();
    let mut add = |is_gap: bool, words| gaps.extend(is_gap.then_some(words));
    let (limits, level) = (plan.limits, plan.level);
    add(
        limits.processes.is_some() && !support.limits_processes,
        "the number of processes: this machine cannot limit it",
    );
    add(
        limits.memory_bytes.is_some() && !support.limits_memory,
        "the memory of all processes together: the limit applies to each process",
    );
    let is_closed = plan.network != CommandNetwork::Open;
    add(is_closed && level == SandboxLevel::None, "the network: this machine has no sandbox");
    add(
        plan.network == CommandNetwork::Proxied && level == SandboxLevel::Landlock,
        "the hosts that may be reached: this machine refuses namespaces, so the whole network is closed",
    );
    gaps
}

#[cfg(test)]
mod tests {
    use toolwright_command_protocol::ResourceLimits;

    use super::*;

    #[test]
    fn restrictions_that_a_machine_cannot_enforce_are_reported() {
        let limits = ResourceLimits {
            processes: Some(9),
            memory_bytes: Some(9),
            ..ResourceLimits::default()
        };
        let plan =
            |level, network| SandboxPlan { level, network, limits, ..SandboxPlan::default() };
        let all = SandboxSupport {
            limits_memory: true,
            limits_processes: true,
            ..SandboxSupport::default()
        };
        let best = plan(SandboxLevel::Namespaces, CommandNetwork::Proxied);
        assert_eq!(gaps(&best, &all), Vec::<&str>::new());
        assert_eq!(gaps(&best, &SandboxSupport::default()).len(), 2);
        let landlock = plan(SandboxLevel::Landlock, CommandNetwork::Proxied);
        assert!(gaps(&landlock, &all).concat().contains("the whole network is closed"));
        let none = plan(SandboxLevel::None, CommandNetwork::Closed);
        assert_eq!(gaps(&none, &all), ["the network: this machine has no sandbox"]);
    }
}
