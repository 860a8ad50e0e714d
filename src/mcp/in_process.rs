//! A client in the same process: messages are JSON texts handed over, not bytes on a wire.

use std::{convert::Infallible, future::Future, sync::Arc};

use rmcp::{
    RoleServer, serve_server,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::McpServer;

type Outgoing = Arc<dyn Fn(String) + Send + Sync>;

/// The server's end of one client's line.
pub struct Connection {
    incoming: mpsc::UnboundedSender<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
    gone: CancellationToken,
}

impl Connection {
    /// Opens a line. The future serves it until the line is closed; somebody has to drive it.
    pub fn open(
        server: impl FnOnce(CancellationToken) -> McpServer,
        outgoing: impl Fn(String) + Send + Sync + 'static,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let gone = CancellationToken::new();
        let server = server(gone.clone());
        let outgoing: Outgoing = Arc::new(outgoing);
        let (sender, incoming) = mpsc::unbounded_channel();
        let line = Line { incoming, outgoing: Arc::clone(&outgoing) };
        let closing = gone.clone();
        let serve = async move {
            let until_closed = async {
                if let Ok(running) = serve_server(server, line).await {
                    // How the line ended makes no difference: there is nobody left to tell.
                    drop(running.waiting().await);
                }
            };
            tokio::select! {
                () = until_closed => {}
                () = closing.cancelled() => {}
            }
        };
        (Self { incoming: sender, outgoing, gone }, serve)
    }

    /// Takes one message of the client.
    pub fn receive(&self, message: &str) {
        match serde_json::from_str(message) {
            // A line that is closed takes no more messages.
            Ok(message) => drop(self.incoming.send(message)),
            Err(err) => self.refuse(message, &err),
        }
    }

    /// Ends the line and every call that came over it.
    pub fn close(&self) {
        self.gone.cancel();
    }

    fn refuse(&self, message: &str, err: &serde_json::Error) {
        let id = serde_json::from_str::<Value>(message).ok().and_then(|it| it.get("id").cloned());
        let (code, id) = id.map_or((-32700, Value::Null), |id| (-32600, id));
        let error =
            json!({ "code": code, "message": format!("not a message of the protocol: {err}") });
        (self.outgoing)(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

struct Line {
    incoming: mpsc::UnboundedReceiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
}

impl Transport<RoleServer> for Line {
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
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
