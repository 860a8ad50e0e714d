//! A transport whose messages pass through queues, between rmcp and the tasks that read and write.

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

/// How many messages wait in each direction. A server that is not read from has to wait.
const MAX_WAITING: usize = 64;

/// The largest message that is accepted, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The end of a connection that rmcp has.
pub(super) struct MessagePipe {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    /// None once it is closed.
    outgoing: Option<mpsc::Sender<TxJsonRpcMessage<RoleClient>>>,
    reader: Option<AbortHandle>,
}

/// The other end: what is to be sent, and where to put what was received.
pub(super) struct PipeEnd {
    pub(super) received: IncomingMessages,
    pub(super) to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>,
}

/// Takes what was received.
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

    /// Ends a task together with the connection.
    pub(super) fn ends(&mut self, reader: &JoinHandle<()>) {
        self.reader = Some(reader.abort_handle());
    }
}

impl IncomingMessages {
    /// Passes on a text that was received. An error says that nobody takes messages any more, or that the text is
    /// none of the protocol.
    pub(super) async fn text(&self, text: &[u8]) -> Result<(), NotPassedOn> {
        let message = serde_json::from_slice(text).map_err(|_| NotPassedOn::NoMessage)?;
        self.0.send(message).await.map_err(|_| NotPassedOn::Closed)
    }

    /// True when nobody takes messages any more.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Answers a request in place of the server.
    pub(super) async fn failure(&self, id: RequestId, cause: String) {
        let error = ErrorData::internal_error(cause, None);
        // Nobody waits for the answer of a closed connection.
        let _ = self.0.send(JsonRpcMessage::error(error, Some(id))).await;
    }
}

/// Why a text was not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotPassedOn {
    /// It is no message of the protocol.
    NoMessage,
    /// Nobody takes messages any more.
    Closed,
}

impl Transport<RoleClient> for MessagePipe {
    type Error = SendFailure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), SendFailure>> + Send + 'static {
        let closed = || SendFailure("the connection is closed".into());
        // Put into the queue here, because rmcp awaits futures in any order: a cancellation must not overtake
        // its request.
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
        // Before the reader ends, so that it can be told from a reader that found the end.
        self.incoming.close();
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}
