//! A test bed: a host's registry, used over HTTP without a socket.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_base::ErrorKind;
use toolwright_core::ToolOutput;
use toolwright_host::{HostFunction, HostOptions, HostRegistry, validated};
use toolwright_http::{AccessRules, HttpService};
use toolwright_pipeline::{CallOptions, MessageBus, SharedBus, ToolCall};

pub(crate) struct ServedBed {
    dir: TempDir,
    /// Home and temporary files, outside the workspace.
    _outside: TempDir,
    pub(crate) bus: SharedBus,
    pub(crate) registry: Arc<HostRegistry>,
    pub(crate) service: HttpService,
}

impl ServedBed {
    /// A registry that asks before changes but not for `diagnostic_*`, with further options.
    pub(crate) fn new(options: Value) -> Self {
        Self::with_bus(options, MessageBus::without_listeners())
    }

    pub(crate) fn with_bus(options: Value, bus: MessageBus) -> Self {
        let (dir, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let path = std::env::var("PATH").unwrap();
        let mut all = json!({
            "projectPath": dir.path(),
            "toolsets": ["claude", "diagnostic"],
            "allowedTools": ["diagnostic_echo", "diagnostic_sleep"],
            "serverName": "test",
            "version": "1",
            "userPolicyFile": "",
            "pluginDir": "",
            "storeKind": "memory",
            "readBeforeWrite": false,
            "shell": { "supervisorPath": toolwright_test_bed::supervisor_program() },
            "processEnv": { "PATH": path, "HOME": outside.path(), "TMPDIR": outside.path() },
        });
        if let Value::Object(options) = options {
            all.as_object_mut().unwrap().extend(options);
        }
        let options: HostOptions =
            validated(&all.to_string(), "option", ErrorKind::InvalidOptions).unwrap();
        let bus = Arc::new(bus);
        let function = |_| -> Arc<dyn HostFunction> { unreachable!("there are no functions") };
        let registry = Arc::new(HostRegistry::new(options, Arc::clone(&bus), &function).unwrap());
        let service = HttpService::new(Arc::clone(&registry), AccessRules::default());
        Self { dir, _outside: outside, bus, registry, service }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutput {
        self.call_as(name, input, "call", "session").await
    }

    pub(crate) async fn call_as(
        &self,
        name: &str,
        input: Value,
        id: &str,
        session: &str,
    ) -> ToolOutput {
        let options = CallOptions {
            tool_use_id: Some(id.to_owned()),
            session_id: Some(session.to_owned()),
            ..CallOptions::default()
        };
        self.registry.pipeline.call(ToolCall { name: name.to_owned(), input }, options).await
    }

    /// Starts a call in a task.
    pub(crate) fn start(&self, name: &str, input: Value) -> tokio::task::JoinHandle<ToolOutput> {
        let pipeline = Arc::clone(&self.registry.pipeline);
        let call = ToolCall { name: name.to_owned(), input };
        tokio::spawn(async move { pipeline.call(call, CallOptions::default()).await })
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        answered(self.service.answer(request("GET", path, None, None)).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        answered(self.service.answer(request("POST", path, Some(body), None)).await).await
    }

    /// Reads the events from now on, or after an id.
    pub(crate) async fn follow(&self, last_id: Option<&str>) -> FollowedEvents {
        let response = self.service.answer(request("GET", "/api/events", None, last_id)).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        FollowedEvents { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// Waits for a confirmation request. Returns its id and details.
    pub(crate) async fn asked(&self, events: &mut FollowedEvents) -> (String, Value) {
        let request = events.until(|it| it.data["type"] == "request").await;
        let (status, list) = self.get("/api/confirmations").await;
        assert_eq!(status, StatusCode::OK);
        let waiting = &list["confirmations"][0];
        assert_eq!(waiting["id"], request.data["id"]);
        assert_eq!(waiting["askedAt"], request.data["askedAt"]);
        assert_eq!(waiting["expiresAt"], request.data["expiresAt"]);
        (waiting["id"].as_str().unwrap().to_owned(), waiting["details"].clone())
    }
}

fn request(method: &str, path: &str, body: Option<Value>, last_id: Option<&str>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(id) = last_id {
        request = request.header("last-event-id", id);
    }
    let body = body.map_or_else(Body::empty, |it| Body::from(it.to_string()));
    request.header("content-type", "application/json").body(body).unwrap()
}

async fn answered(response: Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// One event as a client reads it.
#[derive(Clone, Debug)]
pub(crate) struct ReadEvent {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl ReadEvent {
    /// The number in the id.
    pub(crate) fn number(&self) -> u64 {
        self.id.rsplit_once('-').unwrap().1.parse().unwrap()
    }
}

/// A stream of events as a client reads it.
pub(crate) struct FollowedEvents {
    body: BodyDataStream,
    text: String,
}

impl FollowedEvents {
    /// The next block of the stream as text, or `None` at its end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block = self.text.drain(..end + 2).collect::<String>();
                return Some(block.trim_end().to_owned());
            }
            let chunk = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<ReadEvent> {
        loop {
            if let Some(event) = read_event(&self.block().await?) {
                return Some(event);
            }
        }
    }

    /// The first event that matches. After a timeout, the test fails and shows the events that arrived instead.
    pub(crate) async fn until(&mut self, is_it: impl Fn(&ReadEvent) -> bool) -> ReadEvent {
        let mut others = Vec::new();
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), self.next()).await;
            let event =
                next.unwrap_or_else(|_| panic!("it did not come, but {others:#?}")).unwrap();
            if is_it(&event) {
                return event;
            }
            others.push(event);
        }
    }
}

/// The event in a block. `None` for a comment, or for an id alone.
pub(crate) fn read_event(block: &str) -> Option<ReadEvent> {
    let field = |name: &str| block.lines().find_map(|it| it.strip_prefix(name));
    Some(ReadEvent {
        id: field("id: ")?.to_owned(),
        name: field("event: ")?.to_owned(),
        data: serde_json::from_str(field("data: ")?).unwrap(),
    })
}
