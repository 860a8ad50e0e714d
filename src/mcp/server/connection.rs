//! The connection of a client in the same process: messages are handed over as JSON texts.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientRequest, JsonRpcMessage},
    serve_server,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    request_handler::{KeptArrival, McpServer},
    unreadable::unreadable,
};

type Outgoing = Arc<dyn Fn(String) + Send + Sync>;

/// The server's end of the connection to one client.
pub struct Connection {
    incoming: mpsc::UnboundedSender<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
    disconnected: CancellationToken,
}

impl Connection {
    /// Opens a connection. The future serves the client until the connection is closed; the caller has to
    /// run it.
    pub fn open(
        tools: ServedTools,
        outgoing: Arc<dyn Fn(String) + Send + Sync>,
    ) -> (Self, Pin<Box<dyn Future<Output = ()> + Send>>) {
        let disconnected = CancellationToken::new();
        let (sender, incoming) = mpsc::unbounded_channel();
        let transport = InProcessTransport {
            incoming,
            outgoing: Arc::clone(&outgoing),
            tools: tools.clone(),
            has_request: false,
        };
        let server = McpServer::of_one_client(tools, disconnected.clone());
        let closing = disconnected.clone();
        let serve = async move {
            let until_closed = async {
                if let Ok(running) = Box::pin(serve_server(server, transport)).await {
                    // No one is left who could be told how the connection ended.
                    drop(running.waiting().await);
                }
            };
            tokio::select! {
                () = until_closed => {}
                () = closing.cancelled() => {}
            }
        };
        (Self { incoming: sender, outgoing, disconnected }, Box::pin(serve))
    }

    /// Receives one message of the client.
    pub fn receive(&self, message: &str) {
        match serde_json::from_str(message) {
            // After closing, messages are dropped.
            Ok(message) => drop(self.incoming.send(message)),
            Err(err) => (self.outgoing)(unreadable(message.as_bytes(), &err)),
        }
    }

    /// Ends the connection and all its running calls.
    pub(crate) fn close(&self) {
        self.disconnected.cancel();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

struct InProcessTransport {
    incoming: mpsc::UnboundedReceiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
    tools: ServedTools,
    /// Whether a request has arrived. rmcp gives up a connection whose first message is none.
    has_request: bool,
}

impl Transport<RoleServer> for InProcessTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if let Ok(text) = serde_json::to_string(&message) {
            (self.outgoing)(text);
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let mut message = self.incoming.recv().await?;
            self.has_request |= matches!(message, JsonRpcMessage::Request(_));
            if !self.has_request {
                continue;
            }
            // rmcp runs every request in a task of its own, and tasks start in any order.
            if let JsonRpcMessage::Request(request) = &mut message
                && let ClientRequest::CallToolRequest(call) = &mut request.request
            {
                let arrival = self.tools.arrival(&call.params.name);
                call.extensions.insert(KeptArrival::new(arrival));
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
