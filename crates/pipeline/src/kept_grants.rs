//! Stores "always allow" answers, if the host wants that, and applies them in later conversations. No
//! call fails because of the store: without it, the question is asked again.

use std::{future::Future, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_core::{ToolContext, is_agent_id};
use toolwright_policy::is_about_project;
use toolwright_store::{GrantScope, GrantStore, KeptGrant, StateError, StateEvent};

use super::Pipeline;

/// How long a call waits for the store.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long an "always allow" answer stays valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RememberGrants {
    /// Until the conversation ends.
    #[default]
    Session,
    /// In every conversation in this project, from now on.
    Project,
    /// In every project of the user, from now on. A rule that names a file of the project is kept for
    /// that project only.
    User,
}

impl RememberGrants {
    /// The scopes whose grants apply.
    const fn scopes(self) -> &'static [GrantScope] {
        match self {
            Self::Session => &[],
            Self::Project => &[GrantScope::Project],
            Self::User => &[GrantScope::Project, GrantScope::User],
        }
    }

    /// The scope in which a rule is stored, if it is stored.
    fn scope_of(self, rule: &str) -> Option<GrantScope> {
        match self {
            Self::Session => None,
            Self::Project => Some(GrantScope::Project),
            Self::User if is_about_project(rule) => Some(GrantScope::Project),
            Self::User => Some(GrantScope::User),
        }
    }
}

impl Pipeline {
    /// Reads the stored grants, which apply from then on. The caller receives a failure, so the next
    /// call does not try again.
    pub async fn load_grants(&self) -> Result<Vec<KeptGrant>, StateError> {
        let loaded = self.stored_grants().list(self.remember_grants.scopes()).await;
        self.grants_loaded.set(()).ok();
        let grants = loaded?;
        let rules: Vec<String> = grants.iter().map(|it| it.rule.clone()).collect();
        self.policy.set_kept(&rules);
        Ok(grants)
    }

    /// Revokes a grant everywhere: in the store, and in every conversation of this registry. Returns
    /// false if there was no such grant.
    pub async fn forget_grant(&self, rule: &str) -> Result<bool, StateError> {
        let was_granted = self.policy.revoke(rule);
        let was_kept = self.stored_grants().forget(rule).await?;
        Ok(was_granted || was_kept)
    }

    /// Loads the stored grants before the first call is judged.
    pub(super) async fn grants_loaded(&self, cx: &ToolContext) {
        let load = self.grants_loaded.get_or_init(|| async {
            let loaded = patiently(self.stored_grants().list(self.remember_grants.scopes())).await;
            match loaded {
                Ok(grants) => {
                    let rules: Vec<String> = grants.into_iter().map(|it| it.rule).collect();
                    self.policy.set_kept(&rules);
                }
                Err(cause) => self.warn(&format!(
                    "earlier \"always allow\" answers could not be read, so the user is asked again: {cause}"
                )),
            }
        });
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {}
            &() = load => {}
        }
    }

    /// Stores rules that a person granted. Stops when the call ends.
    pub(super) async fn keep_grants(&self, rules: Vec<String>, cx: &ToolContext) {
        if is_agent_id(&cx.session.id) {
            // A grant for an agent does not apply to the conversation that started it.
            return;
        }
        let keep = async {
            for rule in rules {
                let Some(scope) = self.remember_grants.scope_of(&rule) else { continue };
                match patiently(self.stored_grants().keep(&rule, scope)).await {
                    Ok(grant) => {
                        self.policy.add_kept(&[rule]);
                        self.sessions.shared().stored.events.send(&StateEvent::Grant(grant));
                    }
                    Err(cause) => self.warn(&format!(
                        "`{rule}` is allowed in this session only, because it could not be stored: {cause}"
                    )),
                }
            }
        };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {}
            () = self.closed.cancelled() => {}
            () = keep => {}
        }
    }

    fn stored_grants(&self) -> GrantStore {
        let shared = self.sessions.shared();
        GrantStore::of(shared.stored.store.clone(), shared.stored.project.clone())
    }

    fn warn(&self, message: &str) {
        self.sessions.shared().stored.events.send(&StateEvent::Warning(message.to_owned()));
    }
}

/// Waits briefly for the store, because a call is waiting.
async fn patiently<T>(work: impl Future<Output = Result<T, StateError>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done.map_err(|cause| cause.to_string()),
        Err(_) => Err(format!("the store did not answer within {} ms", PATIENCE.as_millis())),
    }
}
