//! The policy of one session, on top of the policy of the registry or of its parent session: its mode, the
//! rules that people granted to it, and the tools it is limited to.

use std::{collections::BTreeSet, sync::Arc};

use toolwright_base::PermissionMode;

use super::{Layer, PolicyConfig, PolicyEngine};

/// How many rules one session may be granted.
const MAX_GRANTS: usize = 1_000;

/// The mode of a session, and the mode to return to when it leaves plan mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnMode {
    pub(super) mode: PermissionMode,
    /// The mode before plan mode. `None` if the session followed its parent or the registry.
    pub(super) before_plan: Option<PermissionMode>,
}

/// Who started a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// The host.
    Host,
    /// An agent. Its session is a child of the session that started the agent.
    Agent,
}

/// The mode, the tools and the grants of one session.
#[derive(Debug, Default)]
pub(super) struct SessionPolicy {
    /// The mode that was set for it. Without one, it follows its parent or the registry.
    pub(super) own_mode: Option<OwnMode>,
    /// The registered names of the tools that it is limited to.
    pub(super) tools: Option<BTreeSet<String>>,
    grants: Vec<String>,
    /// The policy that this one was made from, and the result.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl SessionPolicy {
    /// True when it can be evicted: only grants are lost, so people are asked again.
    pub(super) const fn has_only_grants(&self) -> bool {
        self.own_mode.is_none() && self.tools.is_none()
    }

    /// Sets the mode of the session; without one it follows its parent or the registry again.
    pub(super) fn set_mode(&mut self, mode: Option<PermissionMode>) {
        self.own_mode = mode.map(|mode| OwnMode::entered(mode, self.own_mode));
        self.compiled = None;
    }

    /// Limits the session to these tools. A second limit can only remove tools: both apply.
    pub(super) fn limit_tools(&mut self, tools: BTreeSet<String>) {
        self.tools = Some(match self.tools.take() {
            Some(before) => before.intersection(&tools).cloned().collect(),
            None => tools,
        });
    }

    /// Adds rules that allow.
    pub(super) fn grant(&mut self, rules: &[String]) {
        for rule in rules {
            if self.grants.len() < MAX_GRANTS && !self.grants.contains(rule) {
                self.grants.push(rule.clone());
                self.compiled = None;
            }
        }
    }

    /// Removes a rule; false when it is not there.
    pub(super) fn revoke(&mut self, rule: &str) -> bool {
        let before = self.grants.len();
        self.grants.retain(|it| it != rule);
        let is_revoked = self.grants.len() < before;
        if is_revoked {
            self.compiled = None;
        }
        is_revoked
    }

    /// The rules that people granted to the session.
    pub(super) fn grants(&self) -> &[String] {
        &self.grants
    }

    /// The policy of the session, made from the policy of its parent or of the registry. It is compiled once
    /// for each such policy.
    pub(super) fn added_to(
        &mut self,
        base: Arc<PolicyEngine>,
        owner: SessionOwner,
    ) -> Arc<PolicyEngine> {
        let mode = self.effective_mode(base.mode(), owner);
        if self.grants.is_empty() && mode == base.mode() {
            return base;
        }
        if let Some((from, compiled)) = &self.compiled
            && Arc::ptr_eq(from, &base)
        {
            return Arc::clone(compiled);
        }
        let mut sources = base.sources().clone();
        sources.mode = mode;
        if !self.grants.is_empty() {
            let config = PolicyConfig { allow: self.grants.clone(), ..PolicyConfig::default() };
            sources.layers.push((Layer::Session, config));
        }
        // The engine itself suggested these rules. If one does not compile after all, nothing is granted; the
        // other rules have compiled before.
        let compiled = PolicyEngine::new(sources).or_else(|_| base.with_mode(mode));
        let Ok(compiled) = compiled.map(Arc::new) else { return base };
        self.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }

    /// The mode in effect, given the mode of the parent or of the registry. The host may give its session any
    /// mode. The session of an agent is never less strict than its parent.
    const fn effective_mode(&self, outer: PermissionMode, owner: SessionOwner) -> PermissionMode {
        match (self.own_mode, owner) {
            (None, _) => outer,
            (Some(own), SessionOwner::Host) => own.mode,
            (Some(own), SessionOwner::Agent) => own.mode.strictest(outer),
        }
    }
}

impl OwnMode {
    /// The new mode, which replaces `before`.
    fn entered(mode: PermissionMode, before: Option<Self>) -> Self {
        let before_plan = before.and_then(|it| {
            // Entering plan mode twice keeps the mode from before the first time.
            if it.mode.is_plan() { it.before_plan } else { Some(it.mode) }
        });
        Self { mode, before_plan: before_plan.filter(|_| mode.is_plan()) }
    }
}
