//! Persistent state (todos, settings, grants), for JavaScript.

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde_json::json;
use toolwright_base::ErrorKind;
use toolwright_host::parsed;

use crate::{
    callbacks::Listener,
    envelope::{sealed, sealed_empty},
    registry::NativeRegistry,
};

#[napi]
impl NativeRegistry {
    /// Passes every event of todos, settings and grants to a listener from now on.
    #[napi(catch_unwind)]
    pub fn on_state_event(
        &self,
        #[napi(ts_arg_type = "(event: string) => void")] listener: Listener,
    ) {
        self.host.pipeline.sessions.shared().stored.events.listen(move |event| {
            if let Ok(text) = serde_json::to_string(event) {
                listener.call(text, ThreadsafeFunctionCallMode::NonBlocking);
            }
        });
    }

    /// The todos of a conversation. Resolves with `{ todos }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn todos<'env>(
        &self,
        env: &'env Env,
        session_id: Option<String>,
    ) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let todos = state.todos(session_id).await;
            Ok(sealed(todos.map(|it| json!({ "todos": it }).to_string())))
        })
    }

    /// The value of a setting. Resolves with `{ value }` as JSON, or with `{}` if it has none.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn setting<'env>(&self, env: &'env Env, name: String) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let value = state.setting(&name).await;
            Ok(sealed(value.map(|it| match it {
                Some(value) => json!({ "value": value }).to_string(),
                None => "{}".to_owned(),
            })))
        })
    }

    /// Sets a setting to a value in JSON, or removes its value with `null`.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn set_setting<'env>(
        &self,
        env: &'env Env,
        name: String,
        value: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let done = match parsed(&value, ErrorKind::InvalidOptions) {
                Ok(value) => state.set_setting(&name, value).await,
                Err(error) => Err(error),
            };
            Ok(sealed_empty(done))
        })
    }

    /// Every setting that is known or was set. Resolves with `{ settings }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn settings<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let settings = state.settings().await;
            Ok(sealed(settings.map(|it| json!({ "settings": it }).to_string())))
        })
    }

    /// The grants: the rules that people chose to always allow. Resolves with `{ grants }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn grants<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let grants = state.grants().await;
            Ok(sealed(grants.map(|it| json!({ "grants": it }).to_string())))
        })
    }

    /// Revokes a grant. Resolves with `{ forgotten }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn forget_grant<'env>(
        &self,
        env: &'env Env,
        rule: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let state = self.host.state();
        env.spawn_future(async move {
            let forgotten = state.forget_grant(&rule).await;
            Ok(sealed(forgotten.map(|it| json!({ "forgotten": it }).to_string())))
        })
    }
}
