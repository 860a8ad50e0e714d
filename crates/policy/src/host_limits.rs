//! The limits on hosts that the processes of a command connect to: the rules about hosts for tools that fetch,
//! and for commands. Rules about a whole tool do not apply here: if the model may not fetch, a package manager
//! still may.

use std::sync::Arc;

use toolwright_base::{Access, SideEffect, ToolFamily, ToolKind};

use super::{
    action::Action,
    engine::PolicyEngine,
    host_pattern::host_of,
    judge::Judge,
    question::Question,
    rule::{Rule, SettledRules},
};

/// The limits on hosts of a policy.
#[derive(Clone, Debug)]
pub struct HostLimits {
    engine: Arc<PolicyEngine>,
    /// The tools whose rules apply.
    tools: Vec<(&'static str, ToolKind)>,
}

impl HostLimits {
    /// The limits of a policy.
    pub fn of(engine: &Arc<PolicyEngine>) -> Self {
        let known = &engine.sources.tools;
        let tools = [ToolFamily::Fetches, ToolFamily::RunsCommands]
            .into_iter()
            .filter_map(|family| known.family_name(family).and_then(|it| known.find(it)))
            .map(|it| (it.name, it.kind))
            .collect();
        Self { engine: Arc::clone(engine), tools }
    }

    /// Whether rules deny a host or ask about it; `None` if they do neither.
    pub fn of_host(&self, host: &str, port: u16) -> Option<Action> {
        let url = format!("https://{host}:{port}/");
        self.tools.iter().filter_map(|(name, kind)| self.limit(name, kind, &url)).max()
    }

    fn limit(&self, tool: &str, kind: &ToolKind, url: &str) -> Option<Action> {
        let accesses = [Access::Connect(url.to_owned())];
        let question = Question::about_accesses(
            tool,
            kind,
            SideEffect::Network,
            &accesses,
            &self.engine.sources.places,
        );
        let judge = Judge::of(&self.engine, &question);
        let settled = SettledRules::of(&judge.rules_for_host(host_of(url).as_deref()));
        let certain = settled.certain.filter(|it| it.is_limit()).map(Rule::action);
        certain.max(settled.possible.map(|_| Action::Ask))
    }
}
