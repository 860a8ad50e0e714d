//! Answers of "always allow" that outlast a conversation. Each rule is stored under its own key, so that two
//! simultaneous answers are both kept.

use serde::{Deserialize, Serialize};

use super::{ProjectKey, StateError, of_value, parsed};
use crate::Store;

/// The maximum number of grants per scope. More are a mistake, and would slow down every decision.
const MAX_GRANTS: usize = 1_000;

/// Where a grant applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// In every conversation in this project.
    Project,
    /// In every project of the user.
    User,
}

impl GrantScope {
    /// Its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// A rule that a person granted, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptGrant {
    /// The rule.
    pub rule: String,
    /// Where it applies.
    pub scope: GrantScope,
    /// When it was granted, in milliseconds since 1970.
    pub granted_at: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredGrant {
    rule: String,
    granted_at: u64,
}

/// The grants of a store, for one project.
#[derive(Clone, Debug)]
pub struct GrantStore {
    store: Store,
    project: ProjectKey,
}

impl GrantStore {
    /// The grants of a project in a store.
    pub fn of(store: Store, project: ProjectKey) -> Self {
        Self { store, project }
    }

    /// Stores a rule.
    pub async fn keep(&self, rule: &str, scope: GrantScope) -> Result<KeptGrant, StateError> {
        let prefix = self.prefix(scope);
        let (entries, _) = self.store.entries(&prefix, MAX_GRANTS, false).await?;
        let stored_key = stored_key(&prefix, rule);
        if entries.len() >= MAX_GRANTS && !entries.iter().any(|it| it.key == stored_key) {
            return Err(StateError::TooManyGrants(MAX_GRANTS));
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let granted_at = now.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        let stored = StoredGrant { rule: rule.to_owned(), granted_at };
        let json = serde_json::to_string(&stored)
            .map_err(|cause| StateError::Unreadable { what: "grant", cause: cause.to_string() })?;
        self.store.set(&stored_key, &json).await.map_err(of_value("rule", rule.len()))?;
        Ok(KeptGrant { rule: stored.rule, scope, granted_at })
    }

    /// The grants of some scopes, oldest first. An unreadable entry grants nothing.
    pub async fn list(&self, scopes: &[GrantScope]) -> Result<Vec<KeptGrant>, StateError> {
        let mut grants = Vec::new();
        for scope in scopes {
            let prefix = self.prefix(*scope);
            let (entries, _) = self.store.entries(&prefix, MAX_GRANTS, true).await?;
            grants.extend(entries.iter().filter_map(|entry| {
                let StoredGrant { rule, granted_at } = parsed(&entry.value, "grant").ok()?;
                // A rule under a foreign key could not be revoked by `forget`, so it does not count.
                let is_own = entry.key == stored_key(&prefix, &rule);
                is_own.then_some(KeptGrant { rule, scope: *scope, granted_at })
            }));
        }
        grants.sort_by(|a, b| {
            (a.granted_at, &a.rule, a.scope).cmp(&(b.granted_at, &b.rule, b.scope))
        });
        Ok(grants)
    }

    /// Deletes a rule in both scopes. Returns false if it was in neither.
    pub async fn forget(&self, rule: &str) -> Result<bool, StateError> {
        let mut was_kept = false;
        for scope in [GrantScope::Project, GrantScope::User] {
            was_kept |= self.store.delete(&stored_key(&self.prefix(scope), rule)).await?;
        }
        Ok(was_kept)
    }

    fn prefix(&self, scope: GrantScope) -> String {
        match scope {
            GrantScope::Project => format!("grants/project/{}/", self.project.as_str()),
            GrantScope::User => "grants/user/".to_owned(),
        }
    }
}

/// The key of a rule. It contains the rule's hash, because rules may be longer than keys.
fn stored_key(prefix: &str, rule: &str) -> String {
    format!("{prefix}{}", blake3::hash(rule.as_bytes()).to_hex())
}
