//! One MCP server: what is known of it, and the connection to it while there is one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rmcp::{RoleClient, model::ServerPeerInfo, service::Peer};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    config::ServerSetup,
    guarded_transport::ServerNews,
    remote_tool::RemoteTool,
    status::{McpServerState, McpServerStatus, ServerIdentification},
};
#[cfg(unix)]
use crate::process::ServerProcess;
use crate::{
    error::{ErrorKind, ToolError},
    tool::ToolContext,
};

/// How many problems are told.
const MAX_WARNINGS: usize = 50;
/// How many characters of a text of the server are told.
const MAX_SHOWN: usize = 500;
/// How long a call waits to learn why the connection ended.
const PATIENCE_FOR_REASON: Duration = Duration::from_secs(2);

/// A server of the host.
pub(super) struct ServerLink {
    pub(super) setup: ServerSetup,
    /// Cancelled when the server is to be disconnected.
    pub(super) stop: CancellationToken,
    /// Makes a link that waits to try again do so now.
    pub(super) retry: Notify,
    state: Mutex<LinkState>,
    /// Changes with the state. Those who wait look at the state again.
    changes: watch::Sender<u64>,
    calls: Mutex<BTreeMap<u64, ToolContext>>,
    next_call: AtomicU64,
}

/// What is known of a server at a moment.
struct LinkState {
    phase: McpServerState,
    since: SystemTime,
    error: Option<String>,
    /// How often it was connected or not connected, to tell one attempt from the next.
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

/// Told by whoever finds that a connection does not work any more.
#[derive(Default)]
pub(super) struct LostConnection {
    found: CancellationToken,
    cause: OnceLock<String>,
}

impl LostConnection {
    /// Ends the connection, for the first cause that is told.
    pub(super) fn tell(&self, cause: &str) {
        let _ = self.cause.set(cause.to_owned());
        self.found.cancel();
    }

    pub(super) async fn told(&self) {
        self.found.cancelled().await;
    }

    pub(super) fn cause(&self) -> Option<&str> {
        self.cause.get().map(String::as_str)
    }
}

impl LinkSession {
    /// The end of what the server's program wrote to its errors.
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

    /// The connection, or an error that says why there is none.
    pub(super) fn session(&self) -> Result<LinkSession, ToolError> {
        let state = self.lock();
        state.session.clone().ok_or_else(|| self.not_connected(&state))
    }

    fn not_connected(&self, state: &LinkState) -> ToolError {
        let name = self.name();
        let reason = state.error.as_deref().unwrap_or("it is being connected");
        let next = match state.phase {
            McpServerState::Disabled => "it is disabled",
            _ if state.is_over => "it was disconnected",
            _ => "it is tried again; call again later, or go on without it",
        };
        let message = format!("MCP server `{name}` is not connected: {reason}; {next}");
        ToolError::new(ErrorKind::McpServer, message)
    }

    /// The error of a call whose connection ended: waits a moment for the reason.
    pub(super) async fn broke_off(&self, ended: &LinkSession) -> ToolError {
        ended.loss.tell("the server closed the connection");
        // A newer connection has news of its own.
        let is_this = |it: &LinkSession| Arc::ptr_eq(&it.news, &ended.news);
        let noted = self.until(|it| !it.session.as_ref().is_some_and(is_this));
        let _ = tokio::time::timeout(PATIENCE_FOR_REASON, noted).await;
        let reason = self.lock().error.clone();
        let reason = reason.unwrap_or_else(|| "the connection was closed".to_owned());
        let name = self.name();
        let message = format!(
            "MCP server `{name}` broke off during the call: {reason}; whether the call had an effect is not known"
        );
        ToolError::new(ErrorKind::McpServer, message)
    }

    /// Notes that the server is connected.
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

    /// Notes that it is not connected any more, or could not be. True when that is news.
    pub(super) fn note_failure(
        &self,
        phase: McpServerState,
        error: String,
        errors: String,
    ) -> bool {
        let state = self.lock();
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

    /// Notes that nobody tries to connect it any more.
    pub(super) fn note_end(&self) {
        self.change(|state| {
            state.session = None;
            state.is_over = true;
        });
    }

    /// The tools that it has in the registry, and the ids of their registrations.
    pub(super) fn tools(&self) -> (Vec<Arc<RemoteTool>>, Vec<u64>) {
        let state = self.lock();
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
        self.lock().attempts
    }

    /// Waits until nobody tries to connect it any more.
    pub(super) async fn over(&self) {
        self.until(|it| it.is_over).await;
    }

    async fn until(&self, is_so: impl Fn(&LinkState) -> bool) {
        let mut changes = self.changes.subscribe();
        // Cannot fail: the sender lives as long as the link.
        while !is_so(&self.lock()) && changes.changed().await.is_ok() {}
    }

    pub(super) fn phase(&self) -> McpServerState {
        self.lock().phase
    }

    /// What a host is told.
    pub(super) fn status(&self) -> McpServerStatus {
        let state = self.lock();
        let session = state.session.clone();
        let info = state.info.clone();
        let mut warnings = state.warnings.clone();
        warnings.extend(session.iter().flat_map(|it| it.noise.in_words()));
        let identity = info.as_ref().and_then(|it| it.server_info.as_ref());
        let milliseconds = state.since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        McpServerStatus {
            name: self.name().to_owned(),
            transport: self.setup.transport(),
            state: state.phase,
            since: u64::try_from(milliseconds).unwrap_or(u64::MAX),
            tools: state.tools.iter().map(|it| it.registered_name().to_owned()).collect(),
            error: state.error.clone(),
            warnings,
            stderr: session.map_or_else(|| state.last_errors.clone(), |it| it.errors()),
            protocol_version: info.as_ref().map(|it| it.protocol_version.to_string()),
            server_info: identity.map(|it| ServerIdentification {
                name: shortened(&it.name),
                version: shortened(&it.version),
            }),
            instructions: info
                .as_ref()
                .and_then(|it| it.instructions.as_deref())
                .map(|it| it.chars().take(MAX_SHOWN * 20).collect()),
        }
    }

    /// Notes a call that runs, until the guard is dropped.
    pub(super) fn note_call(self: &Arc<Self>, cx: &ToolContext) -> NotedCall {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        self.calls().insert(number, cx.clone());
        NotedCall { link: Arc::clone(self), number }
    }

    /// The call that was started last and still runs. A question of the server is most likely about it.
    pub(super) fn last_call(&self) -> Option<ToolContext> {
        self.calls().values().next_back().cloned()
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<u64, ToolContext>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut LinkState)) {
        change(&mut self.lock());
        self.changes.send_modify(|it| *it = it.wrapping_add(1));
    }

    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A call that runs.
pub(super) struct NotedCall {
    link: Arc<ServerLink>,
    number: u64,
}

impl Drop for NotedCall {
    fn drop(&mut self) {
        self.link.calls().remove(&self.number);
    }
}

/// What a server wrote to its output that is no message: often a log line that belongs on its errors.
#[derive(Default)]
pub(super) struct OutputNoise {
    heard: Mutex<HeardNoise>,
}

#[derive(Default)]
struct HeardNoise {
    lines: u64,
    first: Option<String>,
    too_long: u64,
}

impl OutputNoise {
    #[cfg(unix)]
    pub(super) fn heard(&self, line: &[u8]) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.lines += 1;
        if heard.first.is_none() {
            let beginning = line.get(..line.len().min(4 * MAX_SHOWN)).unwrap_or_default();
            heard.first = Some(shortened(&String::from_utf8_lossy(beginning)));
        }
    }

    #[cfg(unix)]
    pub(super) fn too_long(&self, _bytes: usize) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).too_long += 1;
    }

    fn in_words(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let mut words = Vec::new();
        if let Some(first) = &heard.first {
            let lines = heard.lines;
            words.push(format!(
                "{lines} lines of its standard output are no messages, the first is `{first}`; \
                 logs belong on standard error"
            ));
        }
        if heard.too_long > 0 {
            words.push(format!("{} of its messages were too long to be read", heard.too_long));
        }
        words
    }
}

/// The words of an error of a transport, without those that rmcp puts before them.
pub(super) fn transport_words(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    shortened(text.strip_prefix("Client error: ").unwrap_or(&text))
}

/// The beginning of a text of a server, in one line.
pub(super) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
