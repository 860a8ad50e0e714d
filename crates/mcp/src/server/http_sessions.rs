//! The sessions of HTTP clients with protocol 2025-11-25 or older. Since 2026-07-28 there are no sessions.
//!
//! rmcp keeps the messages of the sessions. This limits the number of sessions and how long they last.

use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
    pin::Pin,
    sync::{Arc, Weak, atomic::AtomicBool},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// The maximum number of sessions.
const MAX_SESSIONS: usize = 256;
/// The maximum number of open requests of one session.
const MAX_REQUESTS: usize = 1_000;
/// The maximum number of running calls of all clients. The number of requests is not enough as a limit, because
/// the calls of a session continue when its client disconnects.
pub(super) const MAX_CALLS: usize = 1_024;
/// How long a session without an open request lasts.
const IDLE: Duration = Duration::from_mins(10);

/// Makes the next session's id in the registry.
pub(super) type SessionNames = Box<dyn Fn() -> String + Send + Sync>;

/// The sessions, by the id that their clients send.
pub(super) struct HttpSessions {
    rmcp: LocalSessionManager,
    known: Mutex<HashMap<SessionId, HttpSession>>,
    names: SessionNames,
    /// One permit per running call.
    calls: Arc<Semaphore>,
    /// Cancelled when the registry is closed.
    closing: CancellationToken,
    /// A reference to itself, for the tasks that watch the sessions.
    own: Weak<Self>,
}

/// The public part of a session.
#[derive(Clone)]
pub(super) struct ClientSession {
    /// The session's id in the registry.
    pub(super) name: String,
    /// Cancelled when the session has ended.
    pub(super) ended: CancellationToken,
    /// Set once the client is being notified of changes.
    pub(super) is_notified: Arc<AtomicBool>,
}

/// One client's session.
struct HttpSession {
    known: ClientSession,
    /// The number of open streams.
    open: usize,
    /// The requests that are not answered yet.
    unanswered: HashSet<RequestId>,
    last_used: Instant,
}

impl HttpSessions {
    pub(super) fn new(names: SessionNames, closing: CancellationToken) -> Arc<Self> {
        let mut rmcp = LocalSessionManager::default();
        // Off, because it would also end a session during a long call without progress.
        rmcp.session_config.keep_alive = None;
        Arc::new_cyclic(|own| Self {
            rmcp,
            known: Mutex::default(),
            names,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            closing,
            own: Weak::clone(own),
        })
    }

    /// The session with this id.
    pub(super) fn find(&self, id: &str) -> Option<ClientSession> {
        self.known.lock().get(id).map(|it| it.known.clone())
    }

    /// A permit for a call, or `None` if too many calls are running.
    pub(super) fn begin_call(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.calls).try_acquire_owned().ok()
    }

    /// Records that a call has ended, also if its client has disconnected before.
    pub(super) fn call_is_over(&self, id: &str, request: &RequestId) {
        if let Some(session) = self.known.lock().get_mut(id) {
            session.unanswered.remove(request);
        }
    }

    /// True when no more sessions can be opened.
    pub(super) fn is_full(&self) -> bool {
        let known = self.known.lock();
        known.len() >= MAX_SESSIONS && known.values().all(|it| it.open > 0)
    }

    /// Makes room for a session: of the sessions without an open stream, ends the least recently used.
    async fn make_room(&self) -> Result<(), SessionProblem> {
        let leaving = {
            let known = self.known.lock();
            if known.len() < MAX_SESSIONS {
                return Ok(());
            }
            let unused = known.iter().filter(|(_, it)| it.open == 0);
            unused.min_by_key(|(_, it)| it.last_used).map(|(id, _)| id.clone())
        };
        let leaving = leaving.ok_or(SessionProblem::TooMany)?;
        self.close_session(&leaving).await
    }

    /// Ends a session after [`IDLE`] without use, or when the registry is closed.
    fn watch(&self, id: SessionId, ended: CancellationToken) {
        let (sessions, closing) = (Weak::clone(&self.own), self.closing.clone());
        tokio::spawn(async move {
            let mut until = Instant::now() + IDLE;
            loop {
                tokio::select! {
                    () = ended.cancelled() => return,
                    () = closing.cancelled() => {}
                    () = tokio::time::sleep_until(until) => {}
                }
                let Some(sessions) = sessions.upgrade() else { return };
                let deadline = sessions.known.lock().get(&id).map(HttpSession::deadline);
                match deadline {
                    Some(later) if later > Instant::now() && !closing.is_cancelled() => {
                        until = later;
                    }
                    // Fails if the session has ended already.
                    _ => return drop(sessions.close_session(&id).await),
                }
            }
        });
    }

    /// Counts a stream as open until it is dropped.
    fn opened(&self, id: &SessionId) -> OpenStream {
        if let Some(session) = self.known.lock().get_mut(id) {
            session.open += 1;
        }
        OpenStream {
            sessions: Weak::clone(&self.own),
            id: Arc::clone(id),
            request: None,
            is_call: false,
        }
    }

    /// Like [`Self::opened`], for the answer to a request. Refuses an id that is in use, because rmcp would mix up
    /// the two answers.
    fn admitted(
        &self,
        id: &SessionId,
        request: Option<RequestId>,
    ) -> Result<OpenStream, Box<ServerJsonRpcMessage>> {
        let mut open = self.opened(id);
        let Some(request) = request else { return Ok(open) };
        let mut sessions = self.known.lock();
        let Some(session) = sessions.get_mut(id) else { return Ok(open) };
        let problem = if session.unanswered.contains(&request) {
            format!("a request with the id `{request}` is being answered; use another id")
        } else if session.unanswered.len() >= MAX_REQUESTS {
            format!("{MAX_REQUESTS} requests are being answered; wait for them")
        } else {
            session.unanswered.insert(request.clone());
            open.request = Some(request);
            return Ok(open);
        };
        // Dropping `open` takes the lock, too.
        drop(sessions);
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, problem, None);
        Err(Box::new(ServerJsonRpcMessage::error(error, Some(request))))
    }
}

impl HttpSession {
    /// When it ends if it is not used before.
    fn deadline(&self) -> Instant {
        let from = if self.open > 0 { Instant::now() } else { self.last_used };
        from + IDLE
    }
}

/// What went wrong with a session.
#[derive(Debug)]
pub(super) enum SessionProblem {
    TooMany,
    Rmcp(LocalSessionManagerError),
}

impl Display for SessionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooMany => write!(f, "{MAX_SESSIONS} clients have a session; end one of them"),
            Self::Rmcp(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionProblem {}

impl From<LocalSessionManagerError> for SessionProblem {
    fn from(error: LocalSessionManagerError) -> Self {
        Self::Rmcp(error)
    }
}

impl SessionManager for HttpSessions {
    type Error = SessionProblem;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionProblem> {
        self.make_room().await?;
        let (id, transport) = self.rmcp.create_session().await?;
        let ended = CancellationToken::new();
        let known = ClientSession {
            name: (self.names)(),
            ended: ended.clone(),
            is_notified: Arc::default(),
        };
        let session =
            HttpSession { known, open: 0, unanswered: HashSet::new(), last_used: Instant::now() };
        self.known.lock().insert(Arc::clone(&id), session);
        self.watch(Arc::clone(&id), ended);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionProblem> {
        Ok(self.rmcp.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionProblem> {
        if let Some(session) = self.known.lock().get_mut(id) {
            session.last_used = Instant::now();
        }
        Ok(self.rmcp.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionProblem> {
        let session = self.known.lock().remove(id);
        if let Some(session) = session {
            session.known.ended.cancel();
        }
        Ok(self.rmcp.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let request = match &message {
            ClientJsonRpcMessage::Request(it) => Some(it.id.clone()),
            _ => None,
        };
        let is_call = matches!(&message, ClientJsonRpcMessage::Request(it)
            if matches!(it.request, ClientRequest::CallToolRequest(_)));
        let mut open = match self.admitted(id, request) {
            Ok(open) => open,
            Err(refusal) => {
                let refusal = stream::iter([ServerSseMessage::from_message(*refusal)]);
                return Ok(CountedStream { stream: Box::pin(refusal), open: self.opened(id) });
            }
        };
        let stream = self.rmcp.create_stream(id, message).await?;
        open.is_call = is_call;
        Ok(CountedStream { stream: Box::pin(stream), open })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionProblem> {
        Ok(self.rmcp.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let stream = self.rmcp.create_standalone_stream(id).await?;
        Ok(CountedStream { stream: Box::pin(stream), open: self.opened(id) })
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let stream = self.rmcp.resume(id, last_event_id).await?;
        Ok(CountedStream { stream: Box::pin(stream), open: self.opened(id) })
    }
}

/// The messages that answer one request.
struct CountedStream {
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    open: OpenStream,
}

impl Stream for CountedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.stream.poll_next_unpin(cx);
        if let Poll::Ready(Some(event)) = &polled
            && event.message.as_deref().is_some_and(is_answer)
        {
            // The client may reuse the id before it sees the end of the stream.
            self.open.answered();
        }
        polled
    }
}

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

/// A stream whose session is in use until this is dropped.
struct OpenStream {
    sessions: Weak<HttpSessions>,
    id: SessionId,
    request: Option<RequestId>,
    /// True for a call. A call continues when its client disconnects, and ends when its handler returns.
    is_call: bool,
}

impl OpenStream {
    /// Records that the request is answered.
    fn answered(&mut self) {
        let (sessions, request) = (self.sessions.upgrade(), self.request.take());
        let (Some(sessions), Some(request)) = (sessions, request) else { return };
        if let Some(session) = sessions.known.lock().get_mut(&self.id) {
            session.unanswered.remove(&request);
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if !self.is_call {
            self.answered();
        }
        if let Some(sessions) = self.sessions.upgrade()
            && let Some(session) = sessions.known.lock().get_mut(&self.id)
        {
            session.open = session.open.saturating_sub(1);
            session.last_used = Instant::now();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn sessions() -> (Arc<HttpSessions>, CancellationToken) {
        let closing = CancellationToken::new();
        (HttpSessions::new(Box::new(|| "mcp-1".to_owned()), closing.clone()), closing)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_after_a_time_without_use() {
        let (sessions, _closing) = sessions();
        let (used, _transport) = sessions.create_session().await.unwrap();
        let (unused, _other_transport) = sessions.create_session().await.unwrap();
        let stream = sessions.opened(&used);
        let ended = sessions.find(&unused).unwrap().ended;
        tokio::time::sleep(IDLE + Duration::from_secs(1)).await;
        assert!(ended.is_cancelled() && sessions.find(&unused).is_none());
        assert!(sessions.find(&used).is_some(), "its stream is open");
        drop(stream);
        tokio::time::sleep(IDLE / 2).await;
        assert!(sessions.has_session(&used).await.unwrap());
        tokio::time::sleep(IDLE * 3 / 4).await;
        assert!(sessions.find(&used).is_some(), "it was used in between");
        tokio::time::sleep(IDLE).await;
        assert!(sessions.find(&used).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn closing_the_registry_ends_every_session() {
        let (sessions, closing) = sessions();
        let (id, _transport) = sessions.create_session().await.unwrap();
        let _stream = sessions.opened(&id);
        let ended = sessions.find(&id).unwrap().ended;
        closing.cancel();
        ended.cancelled().await;
        assert!(sessions.find(&id).is_none());
    }

    #[tokio::test]
    async fn the_number_of_running_calls_is_limited() {
        let (sessions, _closing) = sessions();
        let mut running: Vec<_> = (0..MAX_CALLS).map(|_| sessions.begin_call().unwrap()).collect();
        assert!(sessions.begin_call().is_none());
        running.pop();
        assert!(sessions.begin_call().is_some());
    }

    #[tokio::test]
    async fn sessions_in_use_are_not_ended_to_make_room() {
        let (sessions, _closing) = sessions();
        let mut open = Vec::new();
        for _ in 0..MAX_SESSIONS {
            let (id, transport) = sessions.create_session().await.unwrap();
            open.push((sessions.opened(&id), transport));
        }
        assert!(sessions.is_full());
        assert!(matches!(sessions.create_session().await, Err(SessionProblem::TooMany)));
        open.pop();
        assert!(!sessions.is_full());
        assert!(sessions.create_session().await.is_ok());
    }
}
