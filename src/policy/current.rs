//! The policy that holds now. It is replaced as a whole or not at all, so that whoever judges a call
//! takes a snapshot and is not disturbed by a change. What people granted to a conversation is kept
//! beside it and survives such a change.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use lru::LruCache;

use super::{Layer, PolicyConfig, PolicyEngine, PolicyError, PolicySources};

/// How many rules one session may be granted.
const MAX_GRANTS: usize = 1_000;

/// How many sessions with grants are kept; the one used longest ago is asked again.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// The policy of a registry, and what people granted to each of its sessions.
#[derive(Debug)]
pub struct CurrentPolicy {
    engine: RwLock<Arc<PolicyEngine>>,
    /// By the id of the session. Each is locked on its own, because adding rules to a policy takes a while.
    grants: Mutex<LruCache<String, Arc<Mutex<SessionGrants>>>>,
}

/// What people have granted to one session.
#[derive(Debug, Default)]
struct SessionGrants {
    rules: Vec<String>,
    /// The registry's policy with these rules, and the registry's policy that it was made from.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl CurrentPolicy {
    /// Begins with a policy, and nothing granted.
    pub fn new(engine: PolicyEngine) -> Self {
        Self {
            engine: RwLock::new(Arc::new(engine)),
            grants: Mutex::new(LruCache::new(MAX_SESSIONS)),
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
        let engine = self.get();
        let grants = lock(&self.grants).get(id).map(Arc::clone);
        match grants {
            Some(grants) => lock(&grants).added_to(engine),
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
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionGrants {
    fn add(&mut self, rules: &[String]) {
        for rule in rules {
            if self.rules.len() < MAX_GRANTS && !self.rules.contains(rule) {
                self.rules.push(rule.clone());
                self.compiled = None;
            }
        }
    }

    /// The registry's policy with these rules. It is compiled once for each policy of the registry.
    fn added_to(&mut self, base: Arc<PolicyEngine>) -> Arc<PolicyEngine> {
        if let Some((from, compiled)) = &self.compiled
            && Arc::ptr_eq(from, &base)
        {
            return Arc::clone(compiled);
        }
        let config = PolicyConfig { allow: self.rules.clone(), ..PolicyConfig::default() };
        // The engine itself suggested these rules; if it refuses one after all, nothing is granted.
        let Ok(compiled) = base.with_layer(Layer::Session, config).map(Arc::new) else {
            return base;
        };
        self.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }
}
