//! Serves one client over a line: a pair of queues for its messages and for the texts to it, used by the
//! in-process and the stdio transport.

use std::{collections::HashSet, convert::Infallible, future::Future, sync::Arc, time::Duration};

use parking_lot::Mutex;
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

/// The maximum number of open requests of one client.
const MAX_REQUESTS: usize = 10_000;
/// The maximum size of unsent answers. Beyond it, further requests of the client are refused.
const MAX_LATE_BYTES: usize = 64 * 1024 * 1024;
/// How long the open requests may still take after the client has closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// A message of the client.
pub(super) type ClientMessage = RxJsonRpcMessage<RoleServer>;

/// Where the client's messages come from.
pub(super) enum Incoming {
    /// A client in the same process.
    Unbounded(mpsc::UnboundedReceiver<ClientMessage>),
    /// A client that has to wait while too many of its messages are unread.
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
    /// Accepts every text at once.
    Function(Arc<dyn Fn(String) + Send + Sync>),
    /// Accepts texts when there is room.
    Queue(mpsc::Sender<String>),
}

impl Outgoing {
    /// Sends a text at once, or returns it if there is no room.
    fn try_send(&self, text: String) -> Result<(), String> {
        match self {
            Self::Function(send) => send(text),
            Self::Queue(queue) => {
                if let Err(mpsc::error::TrySendError::Full(text)) = queue.try_send(text) {
                    return Err(text);
                }
            }
        }
        // If the client has disconnected, the text is dropped.
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
            // The outcome is ignored: the connection has ended either way.
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
    /// True once the client has started the protocol. Before that, rmcp ends the line if it receives anything
    /// other than a request.
    has_begun: bool,
    /// The answer to a refused request, until there is room for it.
    refusal: Option<String>,
    /// When the line ends, once the client has closed its side.
    ends_at: Option<Instant>,
    /// Cancelled when the line has ended.
    disconnected: CancellationToken,
}

/// The requests that wait for their answers.
#[derive(Default)]
struct UnansweredRequests {
    state: Mutex<UnansweredState>,
    /// Notified when there are none.
    none: Notify,
}

#[derive(Default)]
struct UnansweredState {
    ids: HashSet<RequestId>,
    /// The number and the size of the texts that are not sent yet.
    late: usize,
    late_bytes: usize,
}

impl UnansweredRequests {
    /// Adds a request, or returns why it is refused.
    fn add(&self, id: &RequestId) -> Result<(), String> {
        let mut state = self.state.lock();
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
        let mut state = self.state.lock();
        change(&mut state);
        if state.ids.is_empty() && state.late == 0 {
            self.none.notify_waiters();
        }
    }

    async fn all_answered(&self) {
        let notified = self.none.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        let is_done = {
            let state = self.state.lock();
            state.ids.is_empty() && state.late == 0
        };
        if !is_done {
            notified.await;
        }
    }
}

impl Line {
    /// True if a message is passed to rmcp. A refused request is answered here.
    fn accepts(&mut self, message: &mut ClientMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Err(problem) = self.unanswered.add(&request.id) {
                    let error = ErrorData::new(ErrorCode::INVALID_REQUEST, problem, None);
                    let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    self.refusal = self.outgoing.try_send(text_of(&refusal)).err();
                    return false;
                }
                self.has_begun |= begins(&request.request);
                // Recorded here, because rmcp runs each request in a separate task, and tasks start in any order.
                if let ClientRequest::CallToolRequest(call) = &mut request.request {
                    let arrival = self.tools.arrival(&call.params.name);
                    call.extensions.insert(KeptArrival::new(arrival));
                }
                true
            }
            JsonRpcMessage::Notification(message) => {
                // A cancelled request gets no answer.
                if let ClientNotification::CancelledNotification(it) = &message.notification
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

/// True if a request starts the protocol: by a handshake, or in the new era by its metadata.
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
        let is_sent = move |it: &mut UnansweredState| {
            it.late -= 1;
            it.late_bytes -= bytes;
        };
        // Before the answer is sent, because the client may reuse the id at once.
        unanswered.change(|it| {
            if let Some(id) = answered {
                it.ids.remove(&id);
            }
            it.late += 1;
            it.late_bytes += bytes;
        });
        // Sent now and not when the future is polled, to keep the order.
        let late = self.outgoing.try_send(text).err();
        let outgoing = late.map(|text| self.outgoing.clone().send_late(text));
        if outgoing.is_none() {
            unanswered.change(is_sent);
        }
        async move {
            if let Some(sending) = outgoing {
                sending.await;
                unanswered.change(is_sent);
            }
            Ok(())
        }
    }

    /// Cancel-safe, because rmcp drops this future whenever it has something else to do.
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
                // Cancels running calls now. rmcp would first wait for them.
                self.disconnected.cancel();
                return None;
            };
            if self.accepts(&mut message) {
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
    fn requests_of_a_client_that_reads_no_answers_are_refused() {
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
