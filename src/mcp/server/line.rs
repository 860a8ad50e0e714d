//! The server's end of a line to one client: messages in, texts out, whatever carries them.

use std::{
    collections::HashSet,
    convert::Infallible,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientNotification, ClientRequest, ErrorCode, GetMeta as _, JsonRpcMessage,
        ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    serve_server,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{ServedTools, request_handler::McpServer, tool_calls::KeptArrival};

/// How many requests of one client are answered at once.
const MAX_REQUESTS: usize = 10_000;
/// How many bytes of answers may wait for room before a client that does not take them gets no more.
const MAX_LATE_BYTES: usize = 64 * 1024 * 1024;
/// How long a client that sends no more has for the answers to what it sent.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// A message of the client.
pub(super) type ClientMessage = RxJsonRpcMessage<RoleServer>;

/// Where the client's messages come from.
pub(super) enum Incoming {
    /// A client in the same process.
    Unbounded(mpsc::UnboundedReceiver<ClientMessage>),
    /// One that has to wait while too many of its messages are unread.
    Bounded(mpsc::Receiver<ClientMessage>),
}

impl Incoming {
    async fn next(&mut self) -> Option<ClientMessage> {
        match self {
            Self::Unbounded(queue) => queue.recv().await,
            Self::Bounded(queue) => queue.recv().await,
        }
    }
}

/// Where the texts for the client go.
#[derive(Clone)]
pub(super) enum Outgoing {
    /// Takes them at once.
    Function(Arc<dyn Fn(String) + Send + Sync>),
    /// Takes them when there is room.
    Queue(mpsc::Sender<String>),
}

impl Outgoing {
    /// Sends a text at once, or gives it back if there is no room.
    fn try_send(&self, text: String) -> Result<(), String> {
        match self {
            Self::Function(send) => send(text),
            Self::Queue(queue) => {
                if let Err(mpsc::error::TrySendError::Full(text)) = queue.try_send(text) {
                    return Err(text);
                }
            }
        }
        // A client that has gone needs no more.
        Ok(())
    }

    /// Sends a text that did not fit before, when there is room.
    async fn send_late(self, text: String) {
        if let Self::Queue(queue) = self {
            drop(queue.send(text).await);
        }
    }

    /// Waits until there is room for a text.
    async fn room(&self) {
        if let Self::Queue(queue) = self {
            drop(queue.reserve().await);
        }
    }
}

/// Serves one client until its line ends or it is disconnected.
pub(super) async fn serve_line(
    tools: ServedTools,
    incoming: Incoming,
    outgoing: Outgoing,
    disconnected: CancellationToken,
) {
    let line = Line {
        incoming,
        outgoing,
        tools: tools.clone(),
        unanswered: Arc::default(),
        has_begun: false,
        refusal: None,
        ends_at: None,
        disconnected: disconnected.clone(),
    };
    let server = McpServer::of_one_client(tools, disconnected.clone());
    let until_closed = async {
        if let Ok(running) = Box::pin(serve_server(server, line)).await {
            // No one is left who could be told how the connection ended.
            drop(running.waiting().await);
        }
    };
    tokio::select! {
        () = until_closed => {}
        () = disconnected.cancelled() => {}
    }
    disconnected.cancel();
}

struct Line {
    incoming: Incoming,
    outgoing: Outgoing,
    tools: ServedTools,
    unanswered: Arc<UnansweredRequests>,
    /// Whether the client has begun a conversation. rmcp gives up a line on which something else than a request
    /// comes before that.
    has_begun: bool,
    /// The answer to a request that is not handed on, until there is room for it.
    refusal: Option<String>,
    /// When the line ends, once the client sends no more.
    ends_at: Option<Instant>,
    /// Cancelled when the line has ended.
    disconnected: CancellationToken,
}

/// The requests that wait for their answers.
#[derive(Default)]
struct UnansweredRequests {
    state: Mutex<UnansweredState>,
    /// Told when there are none.
    none: Notify,
}

#[derive(Default)]
struct UnansweredState {
    ids: HashSet<RequestId>,
    /// How many texts wait for room, and their bytes.
    late: usize,
    late_bytes: usize,
}

impl UnansweredRequests {
    fn lock(&self) -> MutexGuard<'_, UnansweredState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, or says why it cannot be answered.
    fn add(&self, id: &RequestId) -> Result<(), String> {
        let mut state = self.lock();
        if state.late >= MAX_REQUESTS || state.late_bytes > MAX_LATE_BYTES {
            let (late, bytes) = (state.late, state.late_bytes);
            return Err(format!(
                "{late} answers ({bytes} bytes) are not read yet; read them first"
            ));
        }
        let ids = &mut state.ids;
        if ids.contains(id) {
            return Err(format!("a request with the id `{id}` is being answered; use another id"));
        }
        if ids.len() >= MAX_REQUESTS {
            return Err(format!("{MAX_REQUESTS} requests are being answered; wait for them"));
        }
        ids.insert(id.clone());
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut UnansweredState)) {
        let mut state = self.lock();
        change(&mut state);
        if state.ids.is_empty() && state.late == 0 {
            self.none.notify_waiters();
        }
    }

    async fn all_answered(&self) {
        let told = self.none.notified();
        tokio::pin!(told);
        told.as_mut().enable();
        let is_done = {
            let state = self.lock();
            state.ids.is_empty() && state.late == 0
        };
        if !is_done {
            told.await;
        }
    }
}

impl Line {
    /// Whether a message is handed on.
    fn takes(&mut self, message: &mut ClientMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Err(problem) = self.unanswered.add(&request.id) {
                    let error = ErrorData::new(ErrorCode::INVALID_REQUEST, problem, None);
                    let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    self.refusal = self.outgoing.try_send(text_of(&refusal)).err();
                    return false;
                }
                self.has_begun |= begins(&request.request);
                // rmcp runs every request in a task of its own, and tasks start in any order.
                if let ClientRequest::CallToolRequest(call) = &mut request.request {
                    let arrival = self.tools.arrival(&call.params.name);
                    call.extensions.insert(KeptArrival::new(arrival));
                }
                true
            }
            JsonRpcMessage::Notification(told) => {
                // The request of a cancelled id gets no answer.
                if let ClientNotification::CancelledNotification(it) = &told.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.unanswered.change(|it| {
                        it.ids.remove(id);
                    });
                }
                self.has_begun
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.has_begun,
        }
    }
}

/// Whether a request begins a conversation: by a handshake, or in the new era by what comes with each request.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let is_known = |it| ProtocolVersion::KNOWN_VERSIONS.contains(&it);
            meta.protocol_version().is_some_and(is_known)
                && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        }
    }
}

fn text_of(message: &TxJsonRpcMessage<RoleServer>) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

impl Transport<RoleServer> for Line {
    type Error = Infallible;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(it) => Some(it.id.clone()),
            JsonRpcMessage::Error(it) => it.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let text = text_of(&message);
        let bytes = text.len();
        let unanswered = Arc::clone(&self.unanswered);
        let on_its_way = move |it: &mut UnansweredState| {
            it.late -= 1;
            it.late_bytes -= bytes;
        };
        // Before the client has the answer, because it may use the id again at once.
        unanswered.change(|it| {
            if let Some(id) = answered {
                it.ids.remove(&id);
            }
            it.late += 1;
            it.late_bytes += bytes;
        });
        // Sent now, and not when the future is polled, so that the order stays.
        let late = self.outgoing.try_send(text).err();
        let outgoing = late.map(|text| self.outgoing.clone().send_late(text));
        if outgoing.is_none() {
            unanswered.change(on_its_way);
        }
        async move {
            if let Some(sending) = outgoing {
                sending.await;
                unanswered.change(on_its_way);
            }
            Ok(())
        }
    }

    /// rmcp drops this future whenever it has something else to do, and asks again.
    async fn receive(&mut self) -> Option<ClientMessage> {
        loop {
            while let Some(refusal) = self.refusal.take() {
                self.refusal = self.outgoing.try_send(refusal).err();
                if self.refusal.is_some() {
                    self.outgoing.room().await;
                }
            }
            let Some(mut message) = self.incoming.next().await else {
                let ends_at = *self.ends_at.get_or_insert_with(|| Instant::now() + LAST_ANSWERS);
                let unanswered = Arc::clone(&self.unanswered);
                drop(tokio::time::timeout_at(ends_at, unanswered.all_answered()).await);
                // rmcp would wait for running calls before it cancels them.
                self.disconnected.cancel();
                return None;
            };
            if self.takes(&mut message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_takes_no_answers_gets_no_more_until_it_does() {
        let unanswered = UnansweredRequests::default();
        let next = |id| unanswered.add(&RequestId::Number(id));
        unanswered.change(|it| it.late_bytes = MAX_LATE_BYTES + 1);
        assert!(next(1).is_err_and(|it| it.ends_with("are not read yet; read them first")));
        unanswered.change(|it| it.late_bytes = 0);
        assert_eq!(next(1), Ok(()));
        unanswered.change(|it| it.late = MAX_REQUESTS);
        assert!(next(2).is_err());
    }
}
