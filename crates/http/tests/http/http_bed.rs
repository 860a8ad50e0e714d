//! A test bed: a registry with a server on loopback, and clients that send arbitrary bytes.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;
use toolwright_base::ErrorKind;
use toolwright_core::ProgressSink;
use toolwright_host::{HostFunction, HostOptions, HostRegistry, HostToolSpec, validated};
use toolwright_http::{AccessRules, HttpServer, HttpService, ServerAddress, ServerBounds};
use toolwright_pipeline::MessageBus;

pub(crate) const TOKEN: &str = "the-token-of-this-test";
/// How long a test waits for something that must happen.
pub(crate) const SOON: Duration = Duration::from_mins(1);

pub(crate) struct HttpBed {
    dir: TempDir,
    pub(crate) registry: Arc<HostRegistry>,
    pub(crate) service: HttpService,
    pub(crate) server: HttpServer,
}

impl HttpBed {
    pub(crate) async fn new() -> Self {
        Self::within(ServerBounds::default()).await
    }

    pub(crate) async fn within(bounds: ServerBounds) -> Self {
        let dir = TempDir::new().unwrap();
        for name in ["project", "plugins"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let options = json!({
            "projectPath": dir.path().join("project").canonicalize().unwrap(),
            "pluginDir": dir.path().join("plugins"),
            "toolsets": ["claude", "diagnostic"],
            "serverName": "toolwright",
            "version": "1",
            "permissionMode": "bypassPermissions",
            "userPolicyFile": "",
            "storeKind": "memory",
            "processEnv": { "PATH": "/usr/bin:/bin" },
            "shell": { "supervisorPath": toolwright_test_bed::supervisor_program() },
        });
        let options: HostOptions =
            validated(&options.to_string(), "option", ErrorKind::InvalidOptions).unwrap();
        let function = |_| -> Arc<dyn HostFunction> { Arc::new(WaitingFunction::default()) };
        let bus = Arc::new(MessageBus::without_listeners());
        let registry = Arc::new(HostRegistry::new(options, bus, &function).unwrap());
        let rules = AccessRules { token: Some(TOKEN.to_owned()), hosts: Vec::new() };
        let service = HttpService::new(Arc::clone(&registry), rules);
        let at = ServerAddress { host: "127.0.0.1".to_owned(), port: 0 };
        let server = HttpServer::open_within(service.clone(), &at, bounds).await.unwrap();
        Self { dir, registry, service, server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.path().canonicalize().unwrap().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Registers a tool that starts and never ends by itself.
    pub(crate) fn add_waiting_tool(&self) -> Arc<WaitingFunction> {
        let spec = json!({ "name": "wait", "inputSchema": { "type": "object" } });
        let spec: HostToolSpec =
            validated(&spec.to_string(), "field", ErrorKind::InvalidTool).unwrap();
        let function = Arc::new(WaitingFunction::default());
        self.registry.register(spec, Arc::<WaitingFunction>::clone(&function)).unwrap();
        function
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &self.usual_headers(), "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_text(path, &body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: &str) -> Reply {
        let mut headers = self.usual_headers();
        headers.push(("content-type", "application/json".to_owned()));
        self.ask("POST", path, &headers, body).await
    }

    pub(crate) fn usual_headers(&self) -> Vec<(&'static str, String)> {
        vec![("host", self.address().to_string()), ("authorization", format!("Bearer {TOKEN}"))]
    }

    /// Sends a request with exactly these headers, and those for its length and connection.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&'static str, String)],
        body: &str,
    ) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        self.send(&format!("{text}\r\n{body}")).await
    }

    /// Sends bytes unchanged, and reads until the server closes the connection.
    pub(crate) async fn send(&self, bytes: &str) -> Reply {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        Reply::from(read_to_end(&mut stream).await)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).await.unwrap()
    }

    /// The beginning of a request that calls a tool, up to its body.
    pub(crate) fn call_head(&self, tool: &str, also: &str) -> String {
        let address = self.address();
        format!(
            "POST /api/tools/{tool}/call HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\n{also}"
        )
    }
}

/// Reads until the connection ends.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // After a reset, the bytes before it are still returned.
    let _ = tokio::time::timeout(SOON, stream.read_to_end(&mut bytes)).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Reads until a text has arrived.
pub(crate) async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let received = String::from_utf8_lossy(&bytes);
        if received.contains(text) {
            return received.into_owned();
        }
        let count = tokio::time::timeout(SOON, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert!(count > 0, "the connection ended before `{text}`: {received}");
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|err| panic!("{err}: {self:?}"))
    }

    /// The status and the `type` of a refusal.
    pub(crate) fn refused(&self) -> (u16, String) {
        (self.status, self.json()["type"].as_str().unwrap().to_owned())
    }
}

/// A function of the host that starts and never returns. It counts started and aborted calls.
pub(crate) struct WaitingFunction {
    begun: Semaphore,
    aborted: Arc<Semaphore>,
}

impl Default for WaitingFunction {
    fn default() -> Self {
        Self { begun: Semaphore::new(0), aborted: Arc::new(Semaphore::new(0)) }
    }
}

impl WaitingFunction {
    /// Waits until this many calls have started.
    pub(crate) async fn begun(&self, calls: u32) {
        tokio::time::timeout(SOON, self.begun.acquire_many(calls)).await.unwrap().unwrap().forget();
    }

    /// Waits until this many calls were aborted.
    pub(crate) async fn aborted(&self, calls: u32) {
        let aborted = tokio::time::timeout(SOON, self.aborted.acquire_many(calls));
        aborted.await.unwrap().unwrap().forget();
    }
}

struct CountedAbort(Arc<Semaphore>);

impl Drop for CountedAbort {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

#[async_trait]
impl HostFunction for WaitingFunction {
    async fn call(&self, _: &Value, _: &Value, _: ProgressSink) -> Option<String> {
        let _aborted = CountedAbort(Arc::clone(&self.aborted));
        self.begun.add_permits(1);
        std::future::pending().await
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
        stop: &CancellationToken,
    ) -> Option<String> {
        tokio::select! {
            answer = self.call(input, context, progress) => answer,
            () = stop.cancelled() => None,
        }
    }

    fn new_key(&self) -> u32 {
        0
    }

    fn release_key(&self, _key: u32, _outcome: &str) {}
}
