//! Opens connections to a server: through its door, until the protocol is agreed on.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::service::{RoleClient, RunningService};

use super::{
    config::Door,
    guarded_transport::{GuardedTransport, ServerNews},
    handshake::{AgreedConnection, ConnectFailure, Era, HandshakeFailure, agree},
    http,
    server_link::{LinkSession, OutputNoise, ServerLink, shortened},
    server_requests::ServerRequests,
    sse,
};
#[cfg(unix)]
use crate::process::ServerProcess;
use crate::{
    net::WebSettings,
    process::TaskManager,
    tool::{CommandSandbox, Handlers},
};

/// How long a program that broke off has to end, so that it can be told how it ended.
#[cfg(unix)]
const TIME_TO_END: Duration = Duration::from_millis(500);
/// How much of the end of a program's errors is part of a message.
const MAX_TOLD_ERRORS: usize = 400;

/// What connections need of the registry.
#[derive(Clone)]
pub(super) struct ClientSurroundings {
    pub(super) tasks: Arc<TaskManager>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) web: WebSettings,
    /// What programs are held to.
    pub(super) sandbox: CommandSandbox,
}

/// A connection, and all that belongs to it.
pub(super) struct OpenConnection {
    pub(super) running: AgreedConnection,
    pub(super) session: LinkSession,
}

/// What an attempt is at, for the message about one that took too long.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stage = Some(stage);
    }

    pub(super) fn get(&self) -> &'static str {
        let stage = self.0.lock().unwrap_or_else(PoisonError::into_inner).stage;
        stage.unwrap_or("it did not start")
    }

    /// Ends the program of an attempt that nobody waits for any more, and waits until it is gone.
    pub(super) async fn end(&self, grace: Duration) {
        #[cfg(unix)]
        {
            let process = self.0.lock().unwrap_or_else(PoisonError::into_inner).process.take();
            if let Some(process) = process {
                process.stop(grace);
                let _ = tokio::time::timeout(grace + TIME_TO_END, process.ended()).await;
            }
        }
        #[cfg(not(unix))]
        let _ = grace;
    }

    /// What the program of the attempt wrote to its errors.
    pub(super) fn errors(&self) -> String {
        #[cfg(unix)]
        if let Some(process) = &self.0.lock().unwrap_or_else(PoisonError::into_inner).process {
            return process.errors();
        }
        String::new()
    }

    #[cfg(unix)]
    fn started(&self, process: &Arc<ServerProcess>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).process = Some(Arc::clone(process));
    }

    /// Says how the program of the attempt ended, where it did, and what it wrote last.
    pub(super) async fn ending(&self) -> Option<String> {
        #[cfg(unix)]
        {
            let process = self.0.lock().unwrap_or_else(PoisonError::into_inner).process.clone()?;
            return how_it_ended(&process).await;
        }
        #[cfg(not(unix))]
        None
    }
}

/// How a program ended, if it does within a moment, and what it wrote last.
#[cfg(unix)]
pub(super) async fn how_it_ended(process: &ServerProcess) -> Option<String> {
    let ended = tokio::time::timeout(TIME_TO_END, process.ended()).await.ok()?;
    Some(with_last_words(ended, &process.errors()))
}

/// A message, with the end of what a program wrote to its errors.
pub(super) fn with_last_words(message: String, errors: &str) -> String {
    let characters = errors.trim_end().chars().count();
    let last: String =
        errors.trim_end().chars().skip(characters.saturating_sub(MAX_TOLD_ERRORS)).collect();
    let last = shortened(&last);
    if last.is_empty() { message } else { format!("{message}; the end of its errors: {last}") }
}

/// Connects to a server.
pub(super) async fn connect(
    link: &Arc<ServerLink>,
    around: &ClientSurroundings,
    stage: &AttemptStage,
) -> Result<OpenConnection, ConnectFailure> {
    match attempt(link, around, stage, Era::WithInitialize).await {
        Err(HandshakeFailure::NoInitialize) => {
            let second = attempt(link, around, stage, Era::WithDiscovery).await;
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
    around: &ClientSurroundings,
    stage: &AttemptStage,
    era: Era,
) -> Result<OpenConnection, HandshakeFailure> {
    let news = Arc::<ServerNews>::default();
    let noise = Arc::<OutputNoise>::default();
    let requests = ServerRequests::new(link, around);
    let begin = || stage.enter("it did not answer the first request");
    #[cfg(unix)]
    let mut process = None;
    let running: RunningService<RoleClient, ServerRequests> = match &link.setup.door {
        #[cfg(unix)]
        Door::Stdio(command) => {
            stage.enter("it did not start");
            let opened =
                super::stdio::open(&around.tasks, command, &around.sandbox, Arc::clone(&noise))
                    .await;
            let (started, pipe) = opened.map_err(not_opened)?;
            let started = Arc::new(started);
            stage.started(&started);
            process = Some(started);
            begin();
            agree(GuardedTransport::new(pipe, Arc::clone(&news)), requests, era).await?
        }
        #[cfg(not(unix))]
        Door::Stdio(_) => {
            let words = "programs cannot be run on this system yet";
            return Err(not_opened(words.to_owned()));
        }
        Door::Http(address) => {
            stage.enter("it could not be reached");
            let opened = http::open(address, &around.web).await;
            let transport = opened.map_err(not_opened)?;
            begin();
            agree(GuardedTransport::new(transport, Arc::clone(&news)), requests, era).await?
        }
        Door::Sse(address) => {
            stage.enter("it did not open its stream of events");
            let pipe = sse::open(address, &around.web).await.map_err(not_opened)?;
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
