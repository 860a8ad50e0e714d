//! The sandbox of a command that was started: what it was held to, and what it was not.

use std::sync::Arc;

use super::{
    plan::{CommandNetwork, SandboxLevel, SandboxPlan},
    support::SandboxSupport,
};

/// What a started command is held to.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedSandbox {
    /// Its plan; none if it has no sandbox.
    pub(crate) plan: Option<Arc<SandboxPlan>>,
    /// Why it is not of a better level; none for the best, and where there is no plan.
    pub(crate) cause: Option<String>,
    /// Why it may be held to less than policy says.
    pub(crate) incomplete: Option<String>,
    /// What policy and options say and the sandbox does not hold, each as a sentence.
    pub(crate) not_held: Vec<String>,
}

impl AppliedSandbox {
    /// The level of the sandbox.
    pub(crate) fn level(&self) -> SandboxLevel {
        self.plan.as_ref().map_or(SandboxLevel::None, |it| it.level)
    }

    /// Adds what the machine cannot hold of the plan.
    pub(crate) fn add_gaps(&mut self, support: &SandboxSupport) {
        if let Some(plan) = &self.plan {
            self.cause = Some(support.why_not_better()).filter(|it| !it.is_empty());
            self.not_held.extend(gaps(plan, support).into_iter().map(str::to_owned));
        }
    }
}

/// What a machine cannot hold of a plan, apart from files.
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
        "the memory of all processes together: the limit is that of each process",
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
    use super::{super::plan::ResourceLimits, *};

    #[test]
    fn what_a_machine_cannot_hold_is_told() {
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
