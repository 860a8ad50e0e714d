//! The policy that holds now. It is replaced as a whole or not at all, so that whoever judges a call
//! takes a snapshot and is not disturbed by a change. What people granted, to a conversation or to all, is
//! kept beside it and survives such a change.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use lru::LruCache;

use super::{Layer, PolicyConfig, PolicyEngine, PolicyError, PolicySources};

/// How many rules one session, or all together, may be granted.
const MAX_GRANTS: usize = 1_000;

/// How many sessions with grants are kept; the one used longest ago is asked again.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// The policy of a registry, and what people granted to each of its sessions.
#[derive(Debug)]
pub struct CurrentPolicy {
    engine: RwLock<Arc<PolicyEngine>>,
    /// By the id of the session. Each is locked on its own, because adding rules to a policy takes a while.
    grants: Mutex<LruCache<String, Arc<Mutex<GrantedRules>>>>,
    /// What was granted to every session, in this one or before.
    kept: Mutex<GrantedRules>,
}

/// What people have granted, to one session or to all.
#[derive(Debug, Default)]
struct GrantedRules {
    rules: Vec<String>,
    /// A policy with these rules, and the one that it was made from.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl CurrentPolicy {
    /// Begins with a policy, and nothing granted.
    pub fn new(engine: PolicyEngine) -> Self {
        Self {
            engine: RwLock::new(Arc::new(engine)),
            grants: Mutex::new(LruCache::new(MAX_SESSIONS)),
            kept: Mutex::default(),
        }
    }

    /// The policy that holds now, without what was granted to any session.
    pub fn get(&self) -> Arc<PolicyEngine> {
        Arc::clone(&self.engine.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another policy in its place; one that cannot be compiled changes nothing.
    pub fn change(&self, change: impl FnOnce(&mut PolicySources)) -> Result<(), PolicyError> {
        let mut current = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        let mut sources = current.sources().clone();
        change(&mut sources);
        *current = Arc::new(PolicyEngine::new(sources)?);
        Ok(())
    }

    /// The policy that holds now for a session: with what people granted to it.
    pub fn of_session(&self, id: &str) -> Arc<PolicyEngine> {
        let engine = lock(&self.kept).added_to(self.get(), Layer::Kept);
        let grants = lock(&self.grants).get(id).map(Arc::clone);
        match grants {
            Some(grants) => lock(&grants).added_to(engine, Layer::Session),
            None => engine,
        }
    }

    /// Adds rules that allow, for one session.
    pub fn grant(&self, session_id: &str, rules: &[String]) {
        if rules.is_empty() {
            return;
        }
        let grants = Arc::clone(lock(&self.grants).get_or_insert_ref(session_id, Arc::default));
        lock(&grants).add(rules);
    }

    /// Says which rules are granted to every session. A rule that cannot be compiled, such as one of a later
    /// version, grants nothing.
    pub fn set_kept(&self, rules: &[String]) {
        let base = self.get();
        let compiles = |rules: &[String]| {
            let config = PolicyConfig { allow: rules.to_vec(), ..PolicyConfig::default() };
            let layers = vec![(Layer::Kept, config)];
            PolicyEngine::new(PolicySources { layers, ..base.sources().clone() }).is_ok()
        };
        let mut usable = rules.to_vec();
        if !compiles(&usable) {
            usable.retain(|it| compiles(std::slice::from_ref(it)));
        }
        let mut kept = GrantedRules::default();
        kept.add(&usable);
        *lock(&self.kept) = kept;
    }

    /// Grants rules to every session, beside those that were.
    pub fn add_kept(&self, rules: &[String]) {
        lock(&self.kept).add(rules);
    }

    /// Takes a rule from every session that it was granted to; false when there is none.
    pub fn revoke(&self, rule: &str) -> bool {
        let sessions: Vec<_> = lock(&self.grants).iter().map(|it| Arc::clone(it.1)).collect();
        let mut was_granted = lock(&self.kept).remove(rule);
        for grants in sessions {
            was_granted |= lock(&grants).remove(rule);
        }
        was_granted
    }

    /// The sessions with the rules that were granted to each, by id.
    pub fn session_grants(&self) -> Vec<(String, Vec<String>)> {
        let sessions: Vec<_> =
            lock(&self.grants).iter().map(|(id, it)| (id.clone(), Arc::clone(it))).collect();
        let mut grants: Vec<_> =
            sessions.into_iter().map(|(id, it)| (id, lock(&it).rules.clone())).collect();
        grants.sort();
        grants
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GrantedRules {
    fn add(&mut self, rules: &[String]) {
        for rule in rules {
            if self.rules.len() < MAX_GRANTS && !self.rules.contains(rule) {
                self.rules.push(rule.clone());
                self.compiled = None;
            }
        }
    }

    fn remove(&mut self, rule: &str) -> bool {
        let before = self.rules.len();
        self.rules.retain(|it| it != rule);
        if self.rules.len() < before {
            self.compiled = None;
        }
        self.rules.len() < before
    }

    /// A policy with these rules. It is compiled once for each policy that they are added to.
    fn added_to(&mut self, base: Arc<PolicyEngine>, layer: Layer) -> Arc<PolicyEngine> {
        if self.rules.is_empty() {
            return base;
        }
        if let Some((from, compiled)) = &self.compiled
            && Arc::ptr_eq(from, &base)
        {
            return Arc::clone(compiled);
        }
        let config = PolicyConfig { allow: self.rules.clone(), ..PolicyConfig::default() };
        // The engine itself suggested these rules; if it refuses one after all, nothing is granted.
        let Ok(compiled) = base.with_layer(layer, config).map(Arc::new) else {
            return base;
        };
        self.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }
}
