//! A test bed: a registry over MCP, with requests over HTTP.

#![expect(
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails on unexpected data, and literals are passed by value"
)]

use std::{path::PathBuf, sync::Arc};

use axum::{body::Body, response::Response};
use futures_util::StreamExt as _;
use http::Request;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_host::{HostFunction, HostOptions, HostRegistry};
use toolwright_http::{AccessRules, HttpService};
use toolwright_pipeline::{MessageBus, SharedBus};

pub(crate) const OLD_ERA: &str = "2025-11-25";
pub(crate) const NEW_ERA: &str = "2026-07-28";

pub(crate) struct McpBed {
    dir: TempDir,
    pub(crate) registry: Arc<HostRegistry>,
    pub(crate) service: HttpService,
}

impl McpBed {
    pub(crate) fn new() -> Self {
        Self::with(json!({ "permissionMode": "bypassPermissions" }))
    }

    /// A registry with further options.
    pub(crate) fn with(more: Value) -> Self {
        Self::with_bus(more, Arc::new(MessageBus::without_listeners()))
    }

    pub(crate) fn with_bus(more: Value, bus: SharedBus) -> Self {
        let dir = TempDir::new().unwrap();
        let mut options = json!({
            "projectPath": dir.path(),
            "toolsets": ["claude"],
            "serverName": "toolwright",
            "version": "0.0.0",
            "userPolicyFile": "",
            "pluginDir": "",
            "processEnv": { "PATH": std::env::var("PATH").unwrap(), "HOME": dir.path() },
            "shell": { "supervisorPath": toolwright_test_bed::supervisor_program() },
        });
        for (name, value) in more.as_object().unwrap() {
            options.as_object_mut().unwrap().insert(name.clone(), value.clone());
        }
        let options: HostOptions = serde_json::from_value(options).unwrap();
        let no_function = |_| -> Arc<dyn HostFunction> { panic!("no function is known") };
        let registry = Arc::new(HostRegistry::new(options, bus, &no_function).unwrap());
        let service = HttpService::new(Arc::clone(&registry), AccessRules::default());
        Self { dir, registry, service }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Sends a body unchanged.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.service.answer(request.body(body.into()).unwrap()).await
    }

    /// Opens a session of the old era. Returns its id.
    pub(crate) async fn session(&self, capabilities: Value) -> String {
        let params = json!({
            "protocolVersion": OLD_ERA,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.post(&[], request(0, "initialize", params)).await;
        assert_eq!(answer.status(), 200);
        let id = answer.headers().get("mcp-session-id").unwrap().to_str().unwrap().to_owned();
        let message = last_message(answer).await;
        assert_eq!(message.pointer("/result/protocolVersion"), Some(&json!(OLD_ERA)));
        let initialized =
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        let accepted = self.post(&in_session(&id), initialized).await;
        assert_eq!(accepted.status(), 202);
        id
    }

    /// Sends a request in a session and waits for the answer.
    pub(crate) async fn ask(&self, session: &str, method: &str, params: Value) -> Value {
        last_message(self.post(&in_session(session), request(1, method, params)).await).await
    }

    /// Sends a request of the new era, without a session, and waits for the answer.
    pub(crate) async fn ask_new(&self, method: &str, params: Value) -> Value {
        last_message(self.post_new(method, params).await).await
    }

    pub(crate) async fn post_new(&self, method: &str, mut params: Value) -> Response {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": NEW_ERA,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let meta = match params.get("_meta") {
            Some(own) => merged(meta, own),
            None => meta,
        };
        let name = params.get("name").or_else(|| params.get("uri")).cloned().unwrap_or_default();
        params.as_object_mut().unwrap().insert("_meta".to_owned(), meta);
        let mut headers = vec![("mcp-protocol-version", NEW_ERA), ("mcp-method", method)];
        if let Some(name) = name.as_str() {
            headers.push(("mcp-name", name));
        }
        self.post(&headers, request(1, method, params)).await
    }
}

fn merged(mut base: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        base.as_object_mut().unwrap().insert(name.clone(), value.clone());
    }
    base
}

pub(crate) fn in_session(id: &str) -> [(&str, &str); 2] {
    [("mcp-session-id", id), ("mcp-protocol-version", OLD_ERA)]
}

pub(crate) fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The last message of an answer, which is the result.
pub(crate) async fn last_message(answer: Response) -> Value {
    messages(answer).await.pop().unwrap()
}

pub(crate) async fn messages(answer: Response) -> Vec<Value> {
    let is_stream = answer
        .headers()
        .get("content-type")
        .is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    let mut chunks = answer.into_body().into_data_stream();
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    if !is_stream {
        return vec![serde_json::from_str(&text).unwrap_or_else(|_| json!(text))];
    }
    let data = text.lines().filter_map(|it| it.strip_prefix("data:")).map(str::trim);
    data.filter(|it| !it.is_empty()).map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// The text of a tool's result.
pub(crate) fn text(message: &Value) -> &str {
    message.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_else(|| {
        panic!("no text in {message}");
    })
}
