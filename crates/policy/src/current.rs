//! The current policy. It is replaced as a whole or not at all. Each call is judged by a snapshot, so a change
//! does not affect it. Grants and the policies of sessions are stored separately and survive a change.
//!
//! The session of an agent is a child of the session that started the agent. Its policy is made from the policy
//! of its parent, so it never allows more: the stricter mode of both applies, and a tool that the parent may not
//! use does not exist for the child.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroUsize,
    sync::Arc,
};

use lru::LruCache;
use parking_lot::{Mutex, RwLock};
use toolwright_base::{PermissionMode, PlanMode};

use super::{
    PolicyEngine, PolicyError, PolicySources,
    kept_grants::KeptGrants,
    session_policy::{SessionOwner, SessionPolicy},
};

/// How many sessions that have only grants are kept. The least recently used one is evicted and asks again.
const MAX_GRANTED: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// How many sessions may have their own mode. They are never evicted, because losing a mode could allow what it
/// denies.
const MAX_WITH_MODE: usize = 10_000;

/// How deep sessions of agents can be nested. A registry limits agents that start agents to far less.
const MAX_DEPTH: usize = 100;

/// The policy of a registry, and the policies of its sessions.
#[derive(Debug)]
pub struct CurrentPolicy {
    registry: RwLock<RegistryPolicy>,
    /// The rules granted to every session.
    kept: Mutex<KeptGrants>,
    sessions: Mutex<SessionPolicies>,
}

#[derive(Debug)]
struct RegistryPolicy {
    engine: Arc<PolicyEngine>,
    /// The mode before plan mode.
    before_plan: PermissionMode,
}

/// The policies of sessions, by session id.
#[derive(Debug)]
struct SessionPolicies {
    /// Sessions that have only grants.
    granted: LruCache<String, Arc<KnownSession>>,
    /// Sessions with a parent, a mode or a limit on tools.
    limited: HashMap<String, Arc<KnownSession>>,
}

/// A session with its own policy.
#[derive(Debug, Default)]
struct KnownSession {
    /// The session that started the agent, if this is the session of an agent.
    parent: Option<String>,
    /// Has its own lock, because compiling a policy takes a while.
    policy: Mutex<SessionPolicy>,
}

/// Why a session cannot be given a mode.
#[derive(Debug, thiserror::Error)]
#[error(
    "{MAX_WITH_MODE} sessions already have their own mode; set the mode of a session that has ended to null"
)]
pub struct TooManyModes;

impl CurrentPolicy {
    /// Starts with a policy for all sessions.
    pub fn new(engine: PolicyEngine) -> Self {
        let registry =
            RegistryPolicy { engine: Arc::new(engine), before_plan: PermissionMode::Default };
        let sessions =
            SessionPolicies { granted: LruCache::new(MAX_GRANTED), limited: HashMap::new() };
        Self {
            registry: RwLock::new(registry),
            kept: Mutex::default(),
            sessions: Mutex::new(sessions),
        }
    }

    /// The current policy of the registry, without grants and without what sessions add.
    pub fn get(&self) -> Arc<PolicyEngine> {
        Arc::clone(&self.registry.read().engine)
    }

    /// Replaces the policy. If the new one does not compile, nothing changes.
    pub fn change(&self, change: impl FnOnce(&mut PolicySources)) -> Result<(), PolicyError> {
        let mut current = self.registry.write();
        current.change(change)
    }

    /// The current policy of a session.
    pub fn of_session(&self, id: &str) -> Arc<PolicyEngine> {
        let outermost = self.kept.lock().added_to(self.get());
        let outwards = self.chain(id);
        outwards.iter().rev().fold(outermost, |outer, session| {
            session.policy.lock().added_to(outer, session.owner())
        })
    }

    /// True when the session, or a session above it, is limited to tools that do not include this one.
    pub fn is_out_of_reach(&self, session_id: &str, tool: &str) -> bool {
        let limits = |it: &Arc<KnownSession>| {
            it.policy.lock().tools.as_ref().is_some_and(|tools| !tools.contains(tool))
        };
        self.chain(session_id).iter().any(limits)
    }

    /// True when the session, or a session above it, is limited to some tools.
    pub fn limits_tools(&self, session_id: &str) -> bool {
        self.chain(session_id).iter().any(|it| it.policy.lock().tools.is_some())
    }

    /// Adds allow rules for one session.
    pub fn grant(&self, session_id: &str, rules: &[String]) {
        if !rules.is_empty() {
            let session = self.sessions.lock().find_or_add(session_id);
            session.policy.lock().grant(rules);
        }
    }

    /// Replaces the rules granted to every session. Rules that do not compile are dropped.
    pub fn set_kept(&self, rules: &[String]) {
        let kept = KeptGrants::usable(rules, &self.get());
        *self.kept.lock() = kept;
    }

    /// Adds rules to those granted to every session.
    pub fn add_kept(&self, rules: &[String]) {
        self.kept.lock().add(rules);
    }

    /// Removes a granted rule from every session; false if no session had it.
    pub fn revoke(&self, rule: &str) -> bool {
        let sessions = self.sessions.lock().all();
        let mut was_granted = self.kept.lock().remove(rule);
        for (_, session) in sessions {
            was_granted |= session.policy.lock().revoke(rule);
        }
        was_granted
    }

    /// The sessions that have grants, with the rules of each, sorted by id.
    pub fn session_grants(&self) -> Vec<(String, Vec<String>)> {
        let sessions = self.sessions.lock().all();
        let rules = |session: &KnownSession| session.policy.lock().grants().to_vec();
        let mut grants: Vec<_> =
            sessions.into_iter().map(|(id, session)| (id, rules(&session))).collect();
        grants.retain(|(_, rules)| !rules.is_empty());
        grants.sort();
        grants
    }

    /// Sets the mode of one session. With `None` it follows its parent or the registry again.
    pub fn set_session_mode(
        &self,
        session_id: &str,
        mode: Option<PermissionMode>,
    ) -> Result<(), TooManyModes> {
        self.limit(session_id, |session| session.set_mode(mode))
    }

    /// Limits one session to the tools with these registered names.
    pub fn limit_tools(
        &self,
        session_id: &str,
        tools: BTreeSet<String>,
    ) -> Result<(), TooManyModes> {
        self.limit(session_id, |session| session.limit_tools(tools))
    }

    fn limit(
        &self,
        session_id: &str,
        change: impl FnOnce(&mut SessionPolicy),
    ) -> Result<(), TooManyModes> {
        let session = {
            let mut sessions = self.sessions.lock();
            let is_new = !sessions.limited.contains_key(session_id);
            if is_new && sessions.limited.len() >= MAX_WITH_MODE {
                return Err(TooManyModes);
            }
            sessions.find_or_add(session_id)
        };
        let is_limited = {
            let mut policy = session.policy.lock();
            change(&mut policy);
            session.parent.is_some() || !policy.has_only_grants()
        };
        self.sessions.lock().put(session_id, session, is_limited);
        Ok(())
    }

    /// Adds the session of an agent.
    pub fn add_child(&self, id: &str, parent: &str, mode: Option<PermissionMode>) {
        let mut policy = SessionPolicy::default();
        policy.set_mode(mode);
        let child = KnownSession { parent: Some(parent.to_owned()), policy: Mutex::new(policy) };
        let mut sessions = self.sessions.lock();
        sessions.granted.pop(id);
        sessions.limited.insert(id.to_owned(), Arc::new(child));
    }

    /// Removes the session of an agent, with its mode, limits and grants.
    pub fn remove_child(&self, id: &str) {
        let mut sessions = self.sessions.lock();
        sessions.limited.remove(id);
        sessions.granted.pop(id);
    }

    /// Whether a session is in plan mode now, and by whose mode.
    pub fn plan_mode(&self, session_id: &str) -> PlanMode {
        if !self.of_session(session_id).mode().is_plan() {
            return PlanMode::Off;
        }
        let parent = self.sessions.lock().find(session_id).and_then(|it| it.parent.clone());
        let is_of_parent = parent.is_some_and(|it| self.of_session(&it).mode().is_plan());
        if is_of_parent { PlanMode::OfParent } else { PlanMode::Own }
    }

    /// Returns to the mode before plan mode, and returns the mode that is then in effect. If the session has its
    /// own mode, that mode changes; otherwise the mode of the registry does. The error says why the session
    /// cannot leave.
    pub fn leave_plan_mode(&self, session_id: &str) -> Result<PermissionMode, PlanMode> {
        match self.plan_mode(session_id) {
            PlanMode::Own => {}
            other @ (PlanMode::Off | PlanMode::OfParent) => return Err(other),
        }
        if !self.leave_own_plan_mode(session_id) {
            let mut registry = self.registry.write();
            let before = registry.before_plan;
            // A mode alone cannot make the rules invalid; if it did, the session would stay in plan mode.
            registry.change(|sources| sources.mode = before).map_err(|_| PlanMode::Own)?;
        }
        Ok(self.of_session(session_id).mode())
    }

    /// False when the plan mode was not set on this session.
    fn leave_own_plan_mode(&self, session_id: &str) -> bool {
        let before_in_registry = {
            let registry = self.registry.read();
            registry.engine.mode().is_plan().then_some(registry.before_plan)
        };
        let Some(session) = self.sessions.lock().find(session_id) else { return false };
        let mut policy = session.policy.lock();
        let Some(own) = policy.own_mode.filter(|it| it.mode.is_plan()) else { return false };
        // If the registry is in plan mode too, a session that follows it would still be in plan mode.
        let followed = before_in_registry.filter(|_| session.parent.is_none());
        policy.set_mode(own.before_plan.or(followed));
        true
    }

    /// The session, its parent, and so on, up to the first that is not known.
    fn chain(&self, session_id: &str) -> Vec<Arc<KnownSession>> {
        let mut sessions = self.sessions.lock();
        let mut chain = Vec::new();
        let mut next = sessions.find(session_id);
        while let Some(session) = next.filter(|_| chain.len() < MAX_DEPTH) {
            next = session.parent.as_deref().and_then(|it| sessions.find(it));
            chain.push(session);
        }
        chain
    }
}

impl RegistryPolicy {
    fn change(&mut self, change: impl FnOnce(&mut PolicySources)) -> Result<(), PolicyError> {
        let before = self.engine.mode();
        let mut sources = self.engine.sources().clone();
        change(&mut sources);
        let engine = PolicyEngine::new(sources)?;
        self.before_plan = match (before.is_plan(), engine.mode().is_plan()) {
            (false, true) => before,
            (true, true) => self.before_plan,
            (_, false) => PermissionMode::Default,
        };
        self.engine = Arc::new(engine);
        Ok(())
    }
}

impl SessionPolicies {
    fn all(&self) -> Vec<(String, Arc<KnownSession>)> {
        let granted = self.granted.iter();
        let all = granted.chain(&self.limited).map(|(id, it)| (id.clone(), Arc::clone(it)));
        all.collect()
    }

    fn find(&mut self, id: &str) -> Option<Arc<KnownSession>> {
        self.limited.get(id).or_else(|| self.granted.get(id)).map(Arc::clone)
    }

    fn find_or_add(&mut self, id: &str) -> Arc<KnownSession> {
        match self.limited.get(id) {
            Some(session) => Arc::clone(session),
            None => Arc::clone(self.granted.get_or_insert_ref(id, Arc::default)),
        }
    }

    /// Moves a session to the right map after a change. The session of an agent may have been removed meanwhile,
    /// so it is not inserted again.
    fn put(&mut self, id: &str, session: Arc<KnownSession>, is_limited: bool) {
        if !is_limited {
            self.limited.remove(id);
            self.granted.put(id.to_owned(), session);
        } else if session.parent.is_none() {
            self.granted.pop(id);
            self.limited.insert(id.to_owned(), session);
        }
    }
}

impl KnownSession {
    const fn owner(&self) -> SessionOwner {
        if self.parent.is_some() { SessionOwner::Agent } else { SessionOwner::Host }
    }
}
