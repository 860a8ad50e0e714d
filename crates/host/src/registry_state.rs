//! The persistent state that a host can read and change without a tool call: todos, settings, grants.

use std::sync::Arc;

use serde::Serialize;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{DEFAULT_SESSION, ForModel as _, HandlerName, SharedState};
use toolwright_pipeline::Pipeline;
use toolwright_store::{
    ConfigChange, KeptGrant, SettingSpec, SettingValue, StateError, StateEvent, TodoItem,
};
use toolwright_tools::FailedState;

use super::HostRegistry;

/// A setting, for the host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SettingInfo {
    /// Its name.
    pub setting: String,
    /// Its value, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<SettingValue>,
    /// Whether its type is known.
    pub known: bool,
    /// Its type and default, if known.
    #[serde(flatten)]
    pub spec: Option<SettingSpec>,
}

/// A grant, for the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum GrantInfo {
    /// A grant in the store.
    Kept(KeptGrant),
    /// A grant that lasts until the end of a conversation.
    OfSession {
        /// The rule.
        rule: String,
        /// Always `session`.
        scope: &'static str,
        /// The conversation.
        session_id: String,
    },
}

/// The persistent state of a registry.
#[derive(Clone)]
pub struct RegistryState(Arc<Pipeline>);

impl HostRegistry {
    /// The persistent state.
    pub fn state(&self) -> RegistryState {
        RegistryState(Arc::clone(&self.pipeline))
    }
}

impl RegistryState {
    /// The todos of a conversation.
    pub async fn todos(&self, session_id: Option<String>) -> Result<Vec<TodoItem>, ToolError> {
        let id = session_id.as_deref().unwrap_or(DEFAULT_SESSION);
        self.shared()?.stored.session_todos(id).list().await.map_err(failed(ErrorKind::Todo))
    }

    /// The value of a setting, or its default.
    pub async fn setting(&self, name: &str) -> Result<Option<SettingValue>, ToolError> {
        let shared = self.with_own_settings()?;
        let value = shared.stored.settings().get(name).await.map_err(failed(ErrorKind::Config))?;
        let default = || shared.stored.known_settings.get(name).and_then(|it| it.default.clone());
        Ok(value.or_else(default))
    }

    /// Sets a setting, or removes its value.
    pub async fn set_setting(
        &self,
        name: &str,
        value: Option<SettingValue>,
    ) -> Result<(), ToolError> {
        let shared = self.with_own_settings()?;
        let value =
            value.map(|it| shared.stored.known_settings.check(name, it)).transpose().for_model()?;
        let _turn = shared.stored.events.turn(&format!("config/{name}")).await;
        let changed = shared.stored.settings().set(name, value.as_ref()).await;
        let previous = changed.map_err(failed(ErrorKind::Config))?;
        if previous != value {
            let setting = name.to_owned();
            let change = ConfigChange { setting, value, previous, session_id: None };
            shared.stored.events.send(&StateEvent::Config(change));
        }
        Ok(())
    }

    /// Every setting that is known or was set, by name.
    pub async fn settings(&self) -> Result<Vec<SettingInfo>, ToolError> {
        let shared = self.with_own_settings()?;
        let stored = shared.stored.settings().list().await.map_err(failed(ErrorKind::Config))?;
        let known = shared.stored.known_settings.all().map(|(name, spec)| SettingInfo {
            setting: name.to_owned(),
            value: None,
            known: true,
            spec: Some(spec.clone()),
        });
        let mut infos: Vec<SettingInfo> = known.collect();
        for it in stored {
            match infos.iter_mut().find(|info| info.setting == it.setting) {
                Some(info) => info.value = Some(it.value),
                None => infos.push(SettingInfo {
                    setting: it.setting,
                    value: Some(it.value),
                    known: false,
                    spec: None,
                }),
            }
        }
        infos.sort_by(|a, b| a.setting.cmp(&b.setting));
        Ok(infos)
    }

    /// All grants: those in the store, and those of conversations. The grants in the store are loaded and apply from
    /// now on.
    pub async fn grants(&self) -> Result<Vec<GrantInfo>, ToolError> {
        self.0.refuse_when_closed()?;
        let kept = self.0.load_grants().await.map_err(failed(ErrorKind::Store))?;
        let mut grants: Vec<GrantInfo> = kept.into_iter().map(GrantInfo::Kept).collect();
        for (session_id, rules) in self.0.policy.session_grants() {
            grants.extend(rules.into_iter().map(|rule| GrantInfo::OfSession {
                rule,
                scope: "session",
                session_id: session_id.clone(),
            }));
        }
        Ok(grants)
    }

    /// Revokes a grant. Returns false if there is no such grant.
    pub async fn forget_grant(&self, rule: &str) -> Result<bool, ToolError> {
        self.0.refuse_when_closed()?;
        self.0.forget_grant(rule).await.map_err(failed(ErrorKind::Store))
    }

    fn shared(&self) -> Result<&SharedState, ToolError> {
        self.0.refuse_when_closed()?;
        Ok(self.0.sessions.shared())
    }

    fn with_own_settings(&self) -> Result<&SharedState, ToolError> {
        if self.0.handlers.get(HandlerName::ConfigGet).is_some() {
            let message =
                "the settings are managed by `handlers.config`; read and change them there";
            return Err(ToolError::new(ErrorKind::InvalidOptions, message));
        }
        self.shared()
    }
}

fn failed(tool_kind: ErrorKind) -> impl FnOnce(StateError) -> ToolError {
    move |error| FailedState { error, tool_kind }.into()
}
