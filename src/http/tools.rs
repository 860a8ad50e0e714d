//! The tools of the registry: list, one, reload.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    answers::{HttpRefusal, json_answer, json_text_answer},
    routes::NameInPath,
    service::ServiceState,
};
use crate::{
    host::{HostRegistry, RegisteredToolInfo},
    plugin::PluginError,
    policy::PolicyEngine,
    registry::Snapshot,
    session::DEFAULT_SESSION,
};

/// Every tool of a registry.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolList {
    /// The tools, by name.
    #[schemars(with = "Vec<RegisteredToolInfo>")]
    tools: Vec<Value>,
    counts: ToolCounts,
}

/// How many tools there are.
#[derive(Serialize, JsonSchema)]
struct ToolCounts {
    /// All of them.
    total: usize,
    /// Those of the package.
    builtin: usize,
    /// Those of plugin files.
    plugin: usize,
    /// Those of other sources, `host` and `mcp`, if there are any.
    #[serde(flatten)]
    others: BTreeMap<String, usize>,
}

/// What reading the plugin files led to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reloaded {
    /// False when there are errors.
    success: bool,
    /// How many tools there are now, of all sources.
    tool_count: usize,
    /// What is wrong with the files.
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

/// The list as it was last sent, which is sent again for as long as nothing changed that it tells.
#[derive(Default)]
pub(super) struct ToolListCache(Mutex<Option<(ToolListKey, Bytes)>>);

/// Everything that the list depends on and that can change.
struct ToolListKey {
    /// Not kept alive, so that a change of the registry need not copy it. Its place in memory is not used
    /// again for as long as this exists.
    tools: Weak<Snapshot>,
    policy: Arc<PolicyEngine>,
}

impl ToolListKey {
    /// Nothing for a session that is limited to some tools: what it is limited to is not part of the key.
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
        if let Some((key, text)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && before.as_ref().is_some_and(|it| it.is_same(key))
        {
            return text.clone();
        }
        let text = Bytes::from(serde_json::to_vec(&ToolList::of(registry)).unwrap_or_default());
        // A change in between may be half in the text.
        let after = ToolListKey::of(registry);
        if let (Some(before), Some(after)) = (before, after)
            && before.is_same(&after)
        {
            let kept = Some((after, text.clone()));
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
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
    told(&state, &name)
}

/// The tool whose name is the path of [`reload`].
pub(super) async fn one_named_reload(
    State(state): State<ServiceState>,
) -> Result<Response, HttpRefusal> {
    told(&state, "reload")
}

fn told(state: &ServiceState, name: &str) -> Result<Response, HttpRefusal> {
    let Some(info) = state.registry.tool_info(name) else {
        let shown: String = name.chars().take(80).collect();
        let message = format!("there is no tool `{shown}`; `/api/tools` lists those there are");
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
