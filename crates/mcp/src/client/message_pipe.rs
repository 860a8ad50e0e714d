//! A transport that connects rmcp through queues with the tasks that read and write messages.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle},
};

/// The size of the queue in each direction. When it is full, nothing more is read from the server.
const MAX_WAITING: usize = 64;

/// The largest message that is accepted, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// rmcp's end of a connection.
pub(super) struct MessagePipe {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    /// `None` once it is closed.
    outgoing: Option<mpsc::Sender<TxJsonRpcMessage<RoleClient>>>,
    reader: Option<AbortHandle>,
}

/// The other end: the messages to send, and the queue for received messages.
pub(super) struct PipeEnd {
    pub(super) received: IncomingMessages,
    pub(super) to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>,
}

/// The queue for received messages.
#[derive(Clone)]
pub(super) struct IncomingMessages(mpsc::Sender<RxJsonRpcMessage<RoleClient>>);

/// Why a message could not be sent.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct SendFailure(pub(super) Arc<str>);

impl MessagePipe {
    pub(super) fn new() -> (Self, PipeEnd) {
        let (received, incoming) = mpsc::channel(MAX_WAITING);
        let (outgoing, to_send) = mpsc::channel(MAX_WAITING);
        let pipe = Self { incoming, outgoing: Some(outgoing), reader: None };
        (pipe, PipeEnd { received: IncomingMessages(received), to_send })
    }

    /// Aborts a task when the connection is dropped.
    pub(super) fn ends(&mut self, reader: &JoinHandle<()>) {
        self.reader = Some(reader.abort_handle());
    }
}

impl IncomingMessages {
    /// Parses a received text and queues the message.
    pub(super) async fn text(&self, text: &[u8]) -> Result<(), NotPassedOn> {
        let message = serde_json::from_slice(text).map_err(|_| NotPassedOn::NoMessage)?;
        self.0.send(message).await.map_err(|_| NotPassedOn::Closed)
    }

    /// True when the receiver is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Answers a request with an error, in place of the server.
    pub(super) async fn failure(&self, id: RequestId, cause: String) {
        let error = ErrorData::internal_error(cause, None);
        // On a closed connection the answer is not needed.
        let _ = self.0.send(JsonRpcMessage::error(error, Some(id))).await;
    }
}

/// Why a text was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotPassedOn {
    /// It is not a message of the protocol.
    NoMessage,
    /// The receiver is gone.
    Closed,
}

impl Transport<RoleClient> for MessagePipe {
    type Error = SendFailure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), SendFailure>> + Send + 'static {
        let closed = || SendFailure("the connection is closed".into());
        // Queued here and not in the future, because rmcp awaits the futures in any order and a cancellation must
        // not overtake its request.
        let sent = match &self.outgoing {
            None => Err(None),
            Some(outgoing) => match outgoing.try_send(message) {
                Ok(()) => Ok(()),
                Err(mpsc::error::TrySendError::Closed(_)) => Err(None),
                Err(mpsc::error::TrySendError::Full(message)) => {
                    Err(Some((outgoing.clone(), message)))
                }
            },
        };
        async move {
            match sent {
                Ok(()) => Ok(()),
                Err(None) => Err(closed()),
                Err(Some((outgoing, message))) => {
                    outgoing.send(message).await.map_err(|_| closed())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), SendFailure> {
        self.outgoing = None;
        Ok(())
    }
}

impl Drop for MessagePipe {
    fn drop(&mut self) {
        // Closed before the reader ends. So others can see that the connection was closed on this side.
        self.incoming.close();
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}
