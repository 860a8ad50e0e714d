//! The tools of the registry: list, one, reload.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use http::StatusCode;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolwright_base::{SHOWN_NAME, shortened};
use toolwright_core::{DEFAULT_SESSION, Snapshot};
use toolwright_host::{HostRegistry, RegisteredToolInfo};
use toolwright_plugins::PluginError;
use toolwright_policy::PolicyEngine;

use super::{
    answers::{HttpRefusal, json_answer, json_text_answer},
    routes::NameInPath,
    service::ServiceState,
};

/// Every tool of a registry.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolList {
    /// The tools, by name.
    #[schemars(with = "Vec<RegisteredToolInfo>")]
    tools: Vec<Value>,
    counts: ToolCounts,
}

/// The number of tools.
#[derive(Serialize, JsonSchema)]
struct ToolCounts {
    /// All tools.
    total: usize,
    /// Built-in tools.
    builtin: usize,
    /// Tools of plugin files.
    plugin: usize,
    /// Tools of other sources, `host` and `mcp`, if there are any.
    #[serde(flatten)]
    others: BTreeMap<String, usize>,
}

/// The outcome of reading the plugin files again.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reloaded {
    /// False when there are errors.
    success: bool,
    /// The number of tools now, from all sources.
    tool_count: usize,
    /// The errors in the files.
    errors: Vec<PluginError>,
}

impl ToolList {
    fn of(registry: &HostRegistry) -> Self {
        let tools = registry.tool_infos();
        let mut others: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &tools {
            let source = tool.get("source").and_then(Value::as_str).unwrap_or_default();
            *others.entry(source.to_owned()).or_default() += 1;
        }
        let counts = ToolCounts {
            total: tools.len(),
            builtin: others.remove("builtin").unwrap_or_default(),
            plugin: others.remove("plugin").unwrap_or_default(),
            others,
        };
        Self { tools, counts }
    }
}

/// Caches the list as JSON until something in it changes.
#[derive(Default)]
pub(super) struct ToolListCache(Mutex<Option<(ToolListKey, Bytes)>>);

/// Everything that the list depends on and that can change.
struct ToolListKey {
    /// Weak, so that a change of the registry need not copy the snapshot. A weak pointer still reserves the
    /// address, so the comparison by pointer is safe.
    tools: Weak<Snapshot>,
    policy: Arc<PolicyEngine>,
}

impl ToolListKey {
    /// Returns `None`, so that nothing is cached, if the session is limited to some tools: that limit is
    /// not part of the key.
    fn of(registry: &HostRegistry) -> Option<Self> {
        let policy = &registry.pipeline.policy;
        if policy.limits_tools(DEFAULT_SESSION) {
            return None;
        }
        let tools = Arc::downgrade(&registry.pipeline.registry.snapshot());
        Some(Self { tools, policy: policy.of_session(DEFAULT_SESSION) })
    }

    fn is_same(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.tools, &other.tools) && Arc::ptr_eq(&self.policy, &other.policy)
    }
}

impl ToolListCache {
    fn get(&self, registry: &HostRegistry) -> Bytes {
        let before = ToolListKey::of(registry);
        if let Some((key, text)) = &*self.0.lock()
            && before.as_ref().is_some_and(|it| it.is_same(key))
        {
            return text.clone();
        }
        let text = Bytes::from(serde_json::to_vec(&ToolList::of(registry)).unwrap_or_default());
        // After a change in between, the text may be half old and half new, so it is not cached.
        let after = ToolListKey::of(registry);
        if let (Some(before), Some(after)) = (before, after)
            && before.is_same(&after)
        {
            let kept = Some((after, text.clone()));
            *self.0.lock() = kept;
        }
        text
    }
}

pub(super) async fn list(State(state): State<ServiceState>) -> Response {
    json_text_answer(StatusCode::OK, state.tool_list.get(&state.registry))
}

pub(super) async fn one(
    State(state): State<ServiceState>,
    NameInPath(name): NameInPath,
) -> Result<Response, HttpRefusal> {
    tool_answer(&state, &name)
}

/// A tool named `reload`, whose path [`reload`] shares.
pub(super) async fn one_named_reload(
    State(state): State<ServiceState>,
) -> Result<Response, HttpRefusal> {
    tool_answer(&state, "reload")
}

fn tool_answer(state: &ServiceState, name: &str) -> Result<Response, HttpRefusal> {
    let Some(info) = state.registry.tool_info(name) else {
        let shown = shortened(name, SHOWN_NAME);
        let message = format!("there is no tool `{shown}`; `/api/tools` lists the tools");
        return Err(HttpRefusal::new(StatusCode::NOT_FOUND, "UnknownTool", message));
    };
    Ok(json_answer(StatusCode::OK, &info))
}

pub(super) async fn reload(State(state): State<ServiceState>) -> Result<Response, HttpRefusal> {
    state.registry.pipeline.refuse_when_closed()?;
    let loaded = tokio::task::spawn_blocking(state.registry.plugin_loading()).await;
    let errors = loaded.map_err(|_| {
        let message = "reading the plugin files failed; this is a bug, please report it";
        HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    })?;
    let tool_count = state.registry.pipeline.registry.snapshot().len();
    let reloaded = Reloaded { success: errors.is_empty(), tool_count, errors };
    Ok(json_answer(StatusCode::OK, &reloaded))
}
