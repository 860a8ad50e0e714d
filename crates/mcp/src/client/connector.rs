//! Opens connections to a server: starts or reaches it, and negotiates the protocol.

use std::{path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rmcp::service::{RoleClient, RunningService};
use toolwright_core::{CommandSandbox, Handlers};
#[cfg(unix)]
use toolwright_process::ServerProcess;
use toolwright_process::TaskManager;
use toolwright_web::WebSettings;

use super::{
    config::ServerTransport,
    guarded_transport::{GuardedTransport, ServerNews},
    handshake::{AgreedConnection, ConnectFailure, Era, HandshakeFailure, agree},
    http,
    server_link::{LinkSession, OutputNoise, ServerLink, one_line},
    server_requests::ServerRequests,
    sse,
};

/// How long to wait for the exit of a program that closed its connection, to report its exit code.
#[cfg(unix)]
const TIME_TO_END: Duration = Duration::from_millis(500);
/// How many characters of the end of a program's standard error are part of a message.
const MAX_STDERR_CHARS: usize = 400;

/// The parts of the registry that connections need.
#[derive(Clone)]
pub(super) struct ClientContext {
    pub(super) tasks: Arc<TaskManager>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) web: WebSettings,
    /// The sandbox of programs.
    pub(super) sandbox: CommandSandbox,
}

/// A connection, and its shared state.
pub(super) struct OpenConnection {
    pub(super) running: AgreedConnection,
    pub(super) session: LinkSession,
}

/// The stage of an attempt to connect, for the message after a timeout.
#[derive(Default)]
pub(super) struct AttemptStage(Mutex<AttemptState>);

#[derive(Default)]
struct AttemptState {
    stage: Option<&'static str>,
    #[cfg(unix)]
    process: Option<Arc<ServerProcess>>,
}

impl AttemptStage {
    pub(super) fn enter(&self, stage: &'static str) {
        self.0.lock().stage = Some(stage);
    }

    pub(super) fn get(&self) -> &'static str {
        let stage = self.0.lock().stage;
        stage.unwrap_or("it did not start")
    }

    /// Ends the program of an attempt that was given up, and waits for its exit.
    pub(super) async fn end(&self, grace: Duration) {
        #[cfg(unix)]
        {
            let process = self.0.lock().process.take();
            if let Some(process) = process {
                process.stop(grace);
                let _ = tokio::time::timeout(grace + TIME_TO_END, process.ended()).await;
            }
        }
        #[cfg(not(unix))]
        let _ = grace;
    }

    /// The standard error of the attempt's program.
    pub(super) fn errors(&self) -> String {
        #[cfg(unix)]
        if let Some(process) = &self.0.lock().process {
            return process.errors();
        }
        String::new()
    }

    #[cfg(unix)]
    fn started(&self, process: &Arc<ServerProcess>) {
        self.0.lock().process = Some(Arc::clone(process));
    }

    /// How the program of the attempt ended, if it did, with the end of its standard error.
    pub(super) async fn ending(&self) -> Option<String> {
        #[cfg(unix)]
        {
            let process = self.0.lock().process.clone()?;
            return how_it_ended(&process).await;
        }
        #[cfg(not(unix))]
        None
    }
}

/// How a program ended, if it ends within a short time, with the end of its standard error.
#[cfg(unix)]
pub(super) async fn how_it_ended(process: &ServerProcess) -> Option<String> {
    let ended = tokio::time::timeout(TIME_TO_END, process.ended()).await.ok()?;
    Some(with_stderr(ended, &process.errors()))
}

/// Appends the end of a program's standard error to a message.
pub(super) fn with_stderr(message: String, errors: &str) -> String {
    let characters = errors.trim_end().chars().count();
    let last: String =
        errors.trim_end().chars().skip(characters.saturating_sub(MAX_STDERR_CHARS)).collect();
    let last = one_line(&last);
    if last.is_empty() { message } else { format!("{message}; the end of its errors: {last}") }
}

/// Connects to a server.
pub(super) async fn connect(
    link: &Arc<ServerLink>,
    context: &ClientContext,
    stage: &AttemptStage,
) -> Result<OpenConnection, ConnectFailure> {
    match attempt(link, context, stage, Era::WithInitialize).await {
        Err(HandshakeFailure::NoInitialize) => {
            let second = attempt(link, context, stage, Era::WithDiscovery).await;
            second.map_err(HandshakeFailure::into_failure)
        }
        first => first.map_err(HandshakeFailure::into_failure),
    }
}

impl HandshakeFailure {
    fn into_failure(self) -> ConnectFailure {
        match self {
            Self::NoInitialize => ConnectFailure::Other("it does not know `initialize`".to_owned()),
            Self::Other(failure) => failure,
        }
    }
}

async fn attempt(
    link: &Arc<ServerLink>,
    context: &ClientContext,
    stage: &AttemptStage,
    era: Era,
) -> Result<OpenConnection, HandshakeFailure> {
    let news = Arc::<ServerNews>::default();
    let noise = Arc::<OutputNoise>::default();
    let requests = ServerRequests::new(link, context);
    let begin = || stage.enter("it did not answer the first request");
    #[cfg(unix)]
    let mut process = None;
    let running: RunningService<RoleClient, ServerRequests> = match &link.setup.transport {
        #[cfg(unix)]
        ServerTransport::Stdio(command) => {
            stage.enter("it did not start");
            let opened =
                super::stdio::open(&context.tasks, command, &context.sandbox, Arc::clone(&noise))
                    .await;
            let (started, pipe) = opened.map_err(not_opened)?;
            let started = Arc::new(started);
            stage.started(&started);
            process = Some(started);
            begin();
            agree(GuardedTransport::new(pipe, Arc::clone(&news)), requests, era).await?
        }
        #[cfg(not(unix))]
        ServerTransport::Stdio(_) => {
            let words = "programs cannot be run on this system yet";
            return Err(not_opened(words.to_owned()));
        }
        ServerTransport::Http(address) => {
            stage.enter("it could not be reached");
            let opened = http::open(address, &context.web).await;
            let transport = opened.map_err(not_opened)?;
            begin();
            agree(GuardedTransport::new(transport, Arc::clone(&news)), requests, era).await?
        }
        ServerTransport::Sse(address) => {
            stage.enter("it did not open its stream of events");
            let pipe = sse::open(address, &context.web).await.map_err(not_opened)?;
            begin();
            agree(GuardedTransport::new(pipe, Arc::clone(&news)), requests, era).await?
        }
    };
    let session = LinkSession {
        peer: running.peer().clone(),
        news,
        loss: Arc::default(),
        noise,
        #[cfg(unix)]
        process,
    };
    Ok(OpenConnection { running, session })
}

fn not_opened(words: String) -> HandshakeFailure {
    HandshakeFailure::Other(ConnectFailure::Other(words))
}
