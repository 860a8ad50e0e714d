//! The policy that holds now: replaced as a whole or not at all.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{Layer, PolicyConfig, PolicyEngine, PolicyError, PolicySources};

/// How many rules one session may be granted.
const MAX_GRANTS: usize = 1_000;

/// The policy of a registry. Whoever judges takes a snapshot.
#[derive(Debug)]
pub struct CurrentPolicy(RwLock<Arc<PolicyEngine>>);

impl CurrentPolicy {
    /// Begins with a policy.
    pub fn new(engine: PolicyEngine) -> Self {
        Self(RwLock::new(Arc::new(engine)))
    }

    /// The policy that holds now.
    pub fn get(&self) -> Arc<PolicyEngine> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another policy in its place; one that cannot be compiled changes nothing.
    pub fn change(&self, change: impl FnOnce(&mut PolicySources)) -> Result<(), PolicyError> {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut sources = current.sources().clone();
        change(&mut sources);
        *current = Arc::new(PolicyEngine::new(sources)?);
        Ok(())
    }
}

/// What people have granted in one session.
#[derive(Debug, Default)]
pub struct Grants(Mutex<Granted>);

#[derive(Debug, Default)]
struct Granted {
    rules: Vec<String>,
    /// The registry's policy with the grants, and the registry's policy it was made from.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl Grants {
    /// Adds rules that allow.
    pub fn add(&self, rules: &[String]) {
        let mut granted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for rule in rules {
            if granted.rules.len() < MAX_GRANTS && !granted.rules.contains(rule) {
                granted.rules.push(rule.clone());
                granted.compiled = None;
            }
        }
    }

    /// The policy of this session: the registry's, with its grants.
    pub fn engine(&self, base: Arc<PolicyEngine>) -> Arc<PolicyEngine> {
        let mut granted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if granted.rules.is_empty() {
            return base;
        }
        if let Some((from, compiled)) = &granted.compiled
            && Arc::ptr_eq(from, &base)
        {
            return Arc::clone(compiled);
        }
        let config = PolicyConfig { allow: granted.rules.clone(), ..PolicyConfig::default() };
        // Grants are rules that the engine itself suggested; one it does not take grants nothing.
        let Ok(compiled) = base.with_layer(Layer::Session, config).map(Arc::new) else {
            return base;
        };
        granted.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }
}
