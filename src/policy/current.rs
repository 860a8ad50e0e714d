//! The policy that holds now. It is replaced as a whole or not at all, so that whoever judges a call
//! takes a snapshot and is not disturbed by a change. What people granted, and what holds for single sessions,
//! is kept beside it and survives such a change.
//!
//! The session of an agent is a child of the session that started the agent. Its policy is made from that of
//! its parent, so it never allows more: the mode is the stricter one of both, and a tool that the parent
//! may not use is not there for the child.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use lru::LruCache;

use super::{
    PolicyEngine, PolicyError, PolicySources,
    kept_grants::KeptGrants,
    session_policy::{SessionPolicy, SessionStanding},
};
use crate::tool::{PermissionMode, PlanMode};

/// How many sessions with nothing but grants are kept; the one used longest ago is asked again.
const MAX_GRANTED: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// How many sessions may have a mode of their own. They are never forgotten, because forgetting a mode could
/// allow what it denies.
const MAX_WITH_MODE: usize = 10_000;

/// How deep sessions of agents can be nested. Far more than a registry lets agents start agents.
const MAX_DEPTH: usize = 100;

/// The policy of a registry, and what holds for each of its sessions.
#[derive(Debug)]
pub struct CurrentPolicy {
    registry: RwLock<RegistryPolicy>,
    /// What was granted to every session.
    kept: Mutex<KeptGrants>,
    sessions: Mutex<SessionPolicies>,
}

#[derive(Debug)]
struct RegistryPolicy {
    engine: Arc<PolicyEngine>,
    /// The mode that plan mode was entered from.
    before_plan: PermissionMode,
}

/// What holds for sessions, by their ids.
#[derive(Debug)]
struct SessionPolicies {
    /// Those with nothing but grants.
    granted: LruCache<String, Arc<KnownSession>>,
    /// Those with a parent, a mode or a limit on tools.
    limited: HashMap<String, Arc<KnownSession>>,
}

/// A session for which something holds.
#[derive(Debug, Default)]
struct KnownSession {
    /// The session that started the agent, if this is the session of one.
    parent: Option<String>,
    /// Locked apart from all others, because compiling a policy takes a while.
    policy: Mutex<SessionPolicy>,
}

/// Why a session cannot be given a mode.
#[derive(Debug, thiserror::Error)]
#[error(
    "{MAX_WITH_MODE} sessions have a mode of their own already; set that of a session that has ended to null"
)]
pub struct TooManyModes;

impl CurrentPolicy {
    /// Begins with a policy, and nothing that holds for single sessions.
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

    /// The policy that holds now, without what holds for single sessions.
    pub fn get(&self) -> Arc<PolicyEngine> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner).engine)
    }

    /// Puts another policy in its place; one that cannot be compiled changes nothing.
    pub fn change(&self, change: impl FnOnce(&mut PolicySources)) -> Result<(), PolicyError> {
        let mut current = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        current.change(change)
    }

    /// The policy that holds now for a session.
    pub fn of_session(&self, id: &str) -> Arc<PolicyEngine> {
        let outermost = lock(&self.kept).added_to(self.get());
        let outwards = self.chain(id);
        outwards.iter().rev().fold(outermost, |outer, session| {
            lock(&session.policy).added_to(outer, session.standing())
        })
    }

    /// True when a session is limited to other tools than this one, or one that it is a part of is.
    pub fn is_out_of_reach(&self, session_id: &str, tool: &str) -> bool {
        let limits = |it: &Arc<KnownSession>| {
            lock(&it.policy).tools.as_ref().is_some_and(|tools| !tools.contains(tool))
        };
        self.chain(session_id).iter().any(limits)
    }

    /// True when a session is limited to some tools, or one that it is a part of is.
    pub fn limits_tools(&self, session_id: &str) -> bool {
        self.chain(session_id).iter().any(|it| lock(&it.policy).tools.is_some())
    }

    /// Adds rules that allow, for one session.
    pub fn grant(&self, session_id: &str, rules: &[String]) {
        if !rules.is_empty() {
            let session = lock(&self.sessions).find_or_add(session_id);
            lock(&session.policy).grant(rules);
        }
    }

    /// Says which rules are granted to every session. A rule that cannot be compiled grants nothing.
    pub fn set_kept(&self, rules: &[String]) {
        let kept = KeptGrants::usable(rules, &self.get());
        *lock(&self.kept) = kept;
    }

    /// Grants rules to every session, beside those that were.
    pub fn add_kept(&self, rules: &[String]) {
        lock(&self.kept).add(rules);
    }

    /// Takes a rule from every session that it was granted to; false when there is none.
    pub fn revoke(&self, rule: &str) -> bool {
        let sessions = lock(&self.sessions).all();
        let mut was_granted = lock(&self.kept).remove(rule);
        for (_, session) in sessions {
            was_granted |= lock(&session.policy).revoke(rule);
        }
        was_granted
    }

    /// The sessions with the rules that were granted to each, by id.
    pub fn session_grants(&self) -> Vec<(String, Vec<String>)> {
        let sessions = lock(&self.sessions).all();
        let rules = |session: &KnownSession| lock(&session.policy).grants().to_vec();
        let mut grants: Vec<_> =
            sessions.into_iter().map(|(id, session)| (id, rules(&session))).collect();
        grants.retain(|(_, rules)| !rules.is_empty());
        grants.sort();
        grants
    }

    /// Sets the mode of one session; without one it follows the registry, or its parent, again.
    pub fn set_session_mode(
        &self,
        session_id: &str,
        mode: Option<PermissionMode>,
    ) -> Result<(), TooManyModes> {
        self.limit(session_id, |session| session.set_mode(mode))
    }

    /// Limits one session to tools, by the names they are registered by.
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
            let mut sessions = lock(&self.sessions);
            let is_new = !sessions.limited.contains_key(session_id);
            if is_new && sessions.limited.len() >= MAX_WITH_MODE {
                return Err(TooManyModes);
            }
            sessions.find_or_add(session_id)
        };
        let is_limited = {
            let mut policy = lock(&session.policy);
            change(&mut policy);
            session.parent.is_some() || !policy.has_only_grants()
        };
        lock(&self.sessions).put(session_id, session, is_limited);
        Ok(())
    }

    /// Adds the session of an agent.
    pub fn add_child(&self, id: &str, parent: &str, mode: Option<PermissionMode>) {
        let mut policy = SessionPolicy::default();
        policy.set_mode(mode);
        let child = KnownSession { parent: Some(parent.to_owned()), policy: Mutex::new(policy) };
        let mut sessions = lock(&self.sessions);
        sessions.granted.pop(id);
        sessions.limited.insert(id.to_owned(), Arc::new(child));
    }

    /// Removes the session of an agent, with everything that held for it.
    pub fn remove_child(&self, id: &str) {
        let mut sessions = lock(&self.sessions);
        sessions.limited.remove(id);
        sessions.granted.pop(id);
    }

    /// Whether a session is in plan mode at this moment.
    pub fn plan_mode(&self, session_id: &str) -> PlanMode {
        if !self.of_session(session_id).mode().is_plan() {
            return PlanMode::Off;
        }
        let parent = lock(&self.sessions).find(session_id).and_then(|it| it.parent.clone());
        let is_of_parent = parent.is_some_and(|it| self.of_session(&it).mode().is_plan());
        if is_of_parent { PlanMode::OfParent } else { PlanMode::Own }
    }

    /// Goes back to the mode that plan mode was entered from, and returns the mode that then holds. The
    /// session changes if it has a mode of its own, and otherwise the registry. The error is what the session
    /// is in if it cannot leave.
    pub fn leave_plan_mode(&self, session_id: &str) -> Result<PermissionMode, PlanMode> {
        match self.plan_mode(session_id) {
            PlanMode::Own => {}
            other @ (PlanMode::Off | PlanMode::OfParent) => return Err(other),
        }
        if !self.leave_own_plan_mode(session_id) {
            let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
            let before = registry.before_plan;
            // A mode alone cannot make the rules invalid; if it did, plan mode would go on.
            registry.change(|sources| sources.mode = before).map_err(|_| PlanMode::Own)?;
        }
        Ok(self.of_session(session_id).mode())
    }

    /// False when the session is not in plan mode by a mode of its own.
    fn leave_own_plan_mode(&self, session_id: &str) -> bool {
        let before_in_registry = {
            let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
            registry.engine.mode().is_plan().then_some(registry.before_plan)
        };
        let Some(session) = lock(&self.sessions).find(session_id) else { return false };
        let mut policy = lock(&session.policy);
        let Some(own) = policy.own_mode.filter(|it| it.mode.is_plan()) else { return false };
        // A session that followed the registry would still be in plan mode, if the registry is.
        let followed = before_in_registry.filter(|_| session.parent.is_none());
        policy.set_mode(own.before_plan.or(followed));
        true
    }

    /// What holds for a session, for its parent, and so on, until nothing does.
    fn chain(&self, session_id: &str) -> Vec<Arc<KnownSession>> {
        let mut sessions = lock(&self.sessions);
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

    /// Keeps a session where it belongs after a change. The one of an agent may be gone by now.
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
    const fn standing(&self) -> SessionStanding {
        if self.parent.is_some() { SessionStanding::OfAgent } else { SessionStanding::OfHost }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
