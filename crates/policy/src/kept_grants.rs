//! Rules that people granted to every session, in this process or an earlier one.

use std::sync::Arc;

use super::{Layer, PolicyConfig, PolicyEngine, PolicySources};

/// How many rules may be kept.
const MAX_KEPT: usize = 1_000;

/// The kept rules.
#[derive(Debug, Default)]
pub(super) struct KeptGrants {
    rules: Vec<String>,
    /// The policy that the rules were added to, and the result.
    compiled: Option<(Arc<PolicyEngine>, Arc<PolicyEngine>)>,
}

impl KeptGrants {
    /// The rules that compile. Others, such as rules of a later version, are dropped.
    pub(super) fn usable(rules: &[String], base: &PolicyEngine) -> Self {
        let compiles = |rules: &[String]| {
            let config = PolicyConfig { allow: rules.to_vec(), ..PolicyConfig::default() };
            let layers = vec![(Layer::Kept, config)];
            PolicyEngine::new(PolicySources { layers, ..base.sources().clone() }).is_ok()
        };
        let mut usable = rules.to_vec();
        if !compiles(&usable) {
            usable.retain(|it| compiles(std::slice::from_ref(it)));
        }
        let mut kept = Self::default();
        kept.add(&usable);
        kept
    }

    pub(super) fn add(&mut self, rules: &[String]) {
        for rule in rules {
            if self.rules.len() < MAX_KEPT && !self.rules.contains(rule) {
                self.rules.push(rule.clone());
                self.compiled = None;
            }
        }
    }

    /// Removes a rule; false when it is not there.
    pub(super) fn remove(&mut self, rule: &str) -> bool {
        let before = self.rules.len();
        self.rules.retain(|it| it != rule);
        let is_removed = self.rules.len() < before;
        if is_removed {
            self.compiled = None;
        }
        is_removed
    }

    /// The policy with these rules added. It is compiled once for each base policy.
    pub(super) fn added_to(&mut self, base: Arc<PolicyEngine>) -> Arc<PolicyEngine> {
        if self.rules.is_empty() {
            return base;
        }
        if let Some((from, compiled)) = &self.compiled
            && Arc::ptr_eq(from, &base)
        {
            return Arc::clone(compiled);
        }
        let config = PolicyConfig { allow: self.rules.clone(), ..PolicyConfig::default() };
        // The engine itself suggested these rules. If one does not compile after all, nothing is granted.
        let Ok(compiled) = base.with_layer(Layer::Kept, config).map(Arc::new) else {
            return base;
        };
        self.compiled = Some((base, Arc::clone(&compiled)));
        compiled
    }
}
