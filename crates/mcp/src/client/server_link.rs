//! One MCP server: its state, and its connection while there is one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use rmcp::{RoleClient, model::ServerPeerInfo, service::Peer};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError, shortened};
use toolwright_core::ToolContext;
#[cfg(unix)]
use toolwright_process::ServerProcess;

use super::{
    config::ServerSetup,
    guarded_transport::ServerNews,
    remote_tool::RemoteTool,
    status::{McpServerState, McpServerStatus, ServerIdentification},
};

/// The maximum number of warnings that are kept.
const MAX_WARNINGS: usize = 50;
/// The maximum length of a server's text in messages, in characters.
const MAX_SHOWN: usize = 500;
/// How long a call waits to learn why the connection ended.
const REASON_TIMEOUT: Duration = Duration::from_secs(2);

/// A configured server.
pub(super) struct ServerLink {
    pub(super) setup: ServerSetup,
    /// Cancelled to disconnect the server.
    pub(super) stop: CancellationToken,
    /// Ends the pause before the next attempt to connect.
    pub(super) retry: Notify,
    state: Mutex<LinkState>,
    /// Changes with the state. Waiting tasks then check the state again.
    changes: watch::Sender<u64>,
    calls: Mutex<BTreeMap<u64, ToolContext>>,
    next_call: AtomicU64,
}

/// The current state of a server.
struct LinkState {
    phase: McpServerState,
    since: SystemTime,
    error: Option<String>,
    /// The number of finished attempts to connect.
    attempts: u64,
    is_over: bool,
    session: Option<LinkSession>,
    tools: Vec<Arc<RemoteTool>>,
    /// The ids of the registrations of its tools.
    registered: Vec<u64>,
    warnings: Vec<String>,
    last_errors: String,
    info: Option<Arc<ServerPeerInfo>>,
}

/// A connection to a server.
#[derive(Clone)]
pub(super) struct LinkSession {
    pub(super) peer: Peer<RoleClient>,
    pub(super) news: Arc<ServerNews>,
    pub(super) loss: Arc<LostConnection>,
    pub(super) noise: Arc<OutputNoise>,
    #[cfg(unix)]
    pub(super) process: Option<Arc<ServerProcess>>,
}

/// Reports that a connection does not work any more.
#[derive(Default)]
pub(super) struct LostConnection {
    found: CancellationToken,
    cause: OnceLock<String>,
}

impl LostConnection {
    /// Ends the connection. The first reported cause is kept.
    pub(super) fn report(&self, cause: &str) {
        let _ = self.cause.set(cause.to_owned());
        self.found.cancel();
    }

    /// Waits until a loss is reported.
    pub(super) async fn reported(&self) {
        self.found.cancelled().await;
    }

    pub(super) fn cause(&self) -> Option<&str> {
        self.cause.get().map(String::as_str)
    }
}

impl LinkSession {
    /// The end of the standard error of the server's program.
    pub(super) fn errors(&self) -> String {
        #[cfg(unix)]
        if let Some(process) = &self.process {
            return process.errors();
        }
        String::new()
    }
}

impl ServerLink {
    pub(super) fn new(setup: ServerSetup, stop: CancellationToken) -> Self {
        let phase =
            if setup.is_disabled { McpServerState::Disabled } else { McpServerState::Connecting };
        let state = LinkState {
            phase,
            since: SystemTime::now(),
            error: None,
            attempts: 0,
            is_over: false,
            session: None,
            tools: Vec::new(),
            registered: Vec::new(),
            warnings: Vec::new(),
            last_errors: String::new(),
            info: None,
        };
        Self {
            setup,
            stop,
            retry: Notify::new(),
            state: Mutex::new(state),
            changes: watch::Sender::default(),
            calls: Mutex::default(),
            next_call: AtomicU64::new(1),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.setup.name
    }

    /// The connection, or an error with the reason why there is none.
    pub(super) fn session(&self) -> Result<LinkSession, ToolError> {
        let state = self.state.lock();
        state.session.clone().ok_or_else(|| self.not_connected(&state))
    }

    fn not_connected(&self, state: &LinkState) -> ToolError {
        let name = self.name();
        let reason = state.error.as_deref().unwrap_or("it is being connected");
        let next = match state.phase {
            McpServerState::Disabled => "it is disabled",
            _ if state.is_over => "it was disconnected",
            _ => "it is tried again; call again later, or continue without it",
        };
        let message = format!("MCP server `{name}` is not connected: {reason}; {next}");
        ToolError::new(ErrorKind::McpServer, message)
    }

    /// The error of a call whose connection ended. Waits a short time for the reason.
    pub(super) async fn broke_off(&self, ended: &LinkSession) -> ToolError {
        ended.loss.report("the server closed the connection");
        // Each connection has its own `ServerNews`.
        let is_this = |it: &LinkSession| Arc::ptr_eq(&it.news, &ended.news);
        let noted = self.until(|it| !it.session.as_ref().is_some_and(is_this));
        let _ = tokio::time::timeout(REASON_TIMEOUT, noted).await;
        let reason = self.state.lock().error.clone();
        let reason = reason.unwrap_or_else(|| "the connection was closed".to_owned());
        let name = self.name();
        let message = format!(
            "MCP server `{name}` disconnected during the call: {reason}; whether the call had an effect is not known"
        );
        ToolError::new(ErrorKind::McpServer, message)
    }

    /// Records that the server is connected.
    pub(super) fn note_connected(&self, session: LinkSession) {
        let info = session.peer.peer_info();
        self.change(|state| {
            state.session = Some(session);
            state.info = info;
            state.error = None;
            state.attempts += 1;
            state.enter(McpServerState::Connected);
        });
    }

    /// Records that the connection was lost or failed. Returns false if state and error are the same as before.
    pub(super) fn note_failure(
        &self,
        phase: McpServerState,
        error: String,
        errors: String,
    ) -> bool {
        let state = self.state.lock();
        let is_news = state.phase != phase || state.error.as_ref() != Some(&error);
        drop(state);
        self.change(|state| {
            state.session = None;
            state.error = Some(error);
            state.last_errors = errors;
            state.attempts += 1;
            state.enter(phase);
        });
        is_news
    }

    /// Records that there are no more attempts to connect.
    pub(super) fn note_end(&self) {
        self.change(|state| {
            state.session = None;
            state.is_over = true;
        });
    }

    /// Its tools in the registry, and the ids of their registrations.
    pub(super) fn tools(&self) -> (Vec<Arc<RemoteTool>>, Vec<u64>) {
        let state = self.state.lock();
        (state.tools.clone(), state.registered.clone())
    }

    pub(super) fn set_tools(
        &self,
        tools: Vec<Arc<RemoteTool>>,
        registered: Vec<u64>,
        mut warnings: Vec<String>,
    ) {
        let left_out = warnings.len().saturating_sub(MAX_WARNINGS);
        if left_out > 0 {
            warnings.truncate(MAX_WARNINGS);
            warnings.push(format!("{left_out} further problems are left out"));
        }
        self.change(|state| {
            state.tools = tools;
            state.registered = registered;
            state.warnings = warnings;
        });
    }

    /// Waits until the first attempt to connect has ended, or all attempts have.
    pub(super) async fn settled(&self) {
        self.until(|it| it.phase != McpServerState::Connecting || it.is_over).await;
    }

    /// Waits until the next attempt after `attempts` has ended, or all attempts have.
    pub(super) async fn attempted_after(&self, attempts: u64) {
        self.until(|it| it.attempts > attempts || it.is_over).await;
    }

    pub(super) fn attempts(&self) -> u64 {
        self.state.lock().attempts
    }

    /// Waits until there are no more attempts to connect.
    pub(super) async fn over(&self) {
        self.until(|it| it.is_over).await;
    }

    async fn until(&self, is_so: impl Fn(&LinkState) -> bool) {
        let mut changes = self.changes.subscribe();
        // Cannot fail: the sender lives as long as the link.
        while !is_so(&self.state.lock()) && changes.changed().await.is_ok() {}
    }

    pub(super) fn phase(&self) -> McpServerState {
        self.state.lock().phase
    }

    /// The status for the host.
    pub(super) fn status(&self) -> McpServerStatus {
        let state = self.state.lock();
        let session = state.session.clone();
        let info = state.info.clone();
        let mut warnings = state.warnings.clone();
        warnings.extend(session.iter().flat_map(|it| it.noise.warnings()));
        let identity = info.as_ref().and_then(|it| it.server_info.as_ref());
        let milliseconds = state.since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        McpServerStatus {
            name: self.name().to_owned(),
            transport: self.setup.transport_name(),
            state: state.phase,
            since: u64::try_from(milliseconds).unwrap_or(u64::MAX),
            tools: state.tools.iter().map(|it| it.registered_name().to_owned()).collect(),
            error: state.error.clone(),
            warnings,
            stderr: session.map_or_else(|| state.last_errors.clone(), |it| it.errors()),
            protocol_version: info.as_ref().map(|it| it.protocol_version.to_string()),
            server_info: identity.map(|it| ServerIdentification {
                name: one_line(&it.name),
                version: one_line(&it.version),
            }),
            instructions: info
                .as_ref()
                .and_then(|it| it.instructions.as_deref())
                .map(|it| shortened(it, MAX_SHOWN * 20).into_owned()),
        }
    }

    /// Records a running call until the guard is dropped.
    pub(super) fn note_call(self: &Arc<Self>, cx: &ToolContext) -> NotedCall {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().insert(number, cx.clone());
        NotedCall { link: Arc::clone(self), number }
    }

    /// The newest running call. A question of the server is most likely about it.
    pub(super) fn last_call(&self) -> Option<ToolContext> {
        self.calls.lock().values().next_back().cloned()
    }

    fn change(&self, change: impl FnOnce(&mut LinkState)) {
        change(&mut self.state.lock());
        self.changes.send_modify(|it| *it = it.wrapping_add(1));
    }
}

impl LinkState {
    fn enter(&mut self, phase: McpServerState) {
        if self.phase != phase {
            self.phase = phase;
            self.since = SystemTime::now();
        }
    }
}

/// A running call.
pub(super) struct NotedCall {
    link: Arc<ServerLink>,
    number: u64,
}

impl Drop for NotedCall {
    fn drop(&mut self) {
        self.link.calls.lock().remove(&self.number);
    }
}

/// Lines on a server's standard output that are not messages: often logs that belong on standard error.
#[derive(Default)]
pub(super) struct OutputNoise {
    counts: Mutex<NoiseCounts>,
}

#[derive(Default)]
struct NoiseCounts {
    lines: u64,
    first: Option<String>,
    too_long: u64,
}

impl OutputNoise {
    #[cfg(unix)]
    pub(super) fn add(&self, line: &[u8]) {
        let mut counts = self.counts.lock();
        counts.lines += 1;
        if counts.first.is_none() {
            let beginning = line.get(..line.len().min(4 * MAX_SHOWN)).unwrap_or_default();
            counts.first = Some(one_line(&String::from_utf8_lossy(beginning)));
        }
    }

    #[cfg(unix)]
    pub(super) fn add_too_long(&self) {
        self.counts.lock().too_long += 1;
    }

    fn warnings(&self) -> Vec<String> {
        let counts = self.counts.lock();
        let mut warnings = Vec::new();
        if let Some(first) = &counts.first {
            let lines = counts.lines;
            warnings.push(format!(
                "{lines} lines of its standard output are not messages, the first is `{first}`; \
                 logs belong on standard error"
            ));
        }
        if counts.too_long > 0 {
            warnings.push(format!("{} of its messages were too long to be read", counts.too_long));
        }
        warnings
    }
}

/// The message of a transport's error, without the prefix of rmcp.
pub(super) fn transport_words(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    one_line(text.strip_prefix("Client error: ").unwrap_or(&text))
}

/// The beginning of a server's text, in one line.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&line, MAX_SHOWN).into_owned()
}
