//! What holds for one session beside the policy of the registry or of its parent: its mode, what people
//! granted to it, and which tools it is limited to.

use std::{collections::BTreeSet, sync::Arc};

use crate::tool::PermissionMode;

use super::{Layer, PolicyConfig, PolicyEngine};

/// How many rules one session may be granted.
const MAX_GRANTS: usize = 1_000;

/// The mode of a session, and the one to go back to when it leaves plan mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnMode {
    pub(super) mode: PermissionMode,
    /// What plan mode was entered from. Nothing where the session had no mode of its own.
    pub(super) before_plan: Option<PermissionMode>,
}

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionStanding {
    /// The host began it.
    OfHost,
    /// It is that of an agent, and part of the session that started the agent.
    OfAgent,
}

/// What holds for one session.
#[derive(Debug, Default)]
pub(super) struct SessionPolicy {
    /// The mode that was set for it. Without one it has that of its parent, or of the registry.
    pub(super) own_mode: Option<OwnMode>,
    /// The tools that it is limited to, by the names they are registered by.
    pub(super) tools: Option<BTreeSet<String>>,
    grants: Vec<String>,
    /// The policy of this session, and the one that it was made from.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl SessionPolicy {
    /// True when nothing but grants is lost if it is forgotten, so that people are asked again.
    pub(super) const fn has_only_grants(&self) -> bool {
        self.own_mode.is_none() && self.tools.is_none()
    }

    /// Sets the mode of the session; without one it follows its parent or the registry again.
    pub(super) fn set_mode(&mut self, mode: Option<PermissionMode>) {
        self.own_mode = mode.map(|mode| OwnMode::entered(mode, self.own_mode));
        self.compiled = None;
    }

    /// Limits the session to tools. It can only get fewer: a second limit holds beside the first.
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

    /// The rules that people granted to it.
    pub(super) fn grants(&self) -> &[String] {
        &self.grants
    }

    /// The policy of the session, made from that of its parent or of the registry. It is compiled once for
    /// each of those.
    pub(super) fn added_to(
        &mut self,
        base: Arc<PolicyEngine>,
        standing: SessionStanding,
    ) -> Arc<PolicyEngine> {
        let mode = self.mode_beside(base.mode(), standing);
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
        // The engine itself suggested these rules; if it refuses one after all, nothing is granted. The rest
        // was compiled before, so it is not refused.
        let compiled = PolicyEngine::new(sources).or_else(|_| base.with_mode(mode));
        let Ok(compiled) = compiled.map(Arc::new) else { return base };
        self.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }

    /// The mode that holds, given that of the parent or of the registry. A host may give a session any mode;
    /// that of an agent is at most that of its parent.
    const fn mode_beside(
        &self,
        outer: PermissionMode,
        standing: SessionStanding,
    ) -> PermissionMode {
        match (self.own_mode, standing) {
            (None, _) => outer,
            (Some(own), SessionStanding::OfHost) => own.mode,
            (Some(own), SessionStanding::OfAgent) => own.mode.strictest(outer),
        }
    }
}

impl OwnMode {
    /// The mode that is set, after another one.
    fn entered(mode: PermissionMode, before: Option<Self>) -> Self {
        let before_plan = before.and_then(|it| {
            // Entering plan mode again does not lose where it was entered from.
            if it.mode.is_plan() { it.before_plan } else { Some(it.mode) }
        });
        Self { mode, before_plan: before_plan.filter(|_| mode.is_plan()) }
    }
}
