//! A client in the same process: messages are JSON texts handed over, not bytes on a wire.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientRequest, JsonRpcMessage},
    serve_server,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    server::{KeptArrival, Server, ServerIdentity},
    tools::Tools,
};

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
        tools: Arc<dyn Tools>,
        identity: ServerIdentity,
        outgoing: Arc<dyn Fn(String) + Send + Sync>,
    ) -> (Self, Pin<Box<dyn Future<Output = ()> + Send>>) {
        let gone = CancellationToken::new();
        let (sender, incoming) = mpsc::unbounded_channel();
        let outgoing_of_line = Arc::clone(&outgoing);
        let arriving = Arc::clone(&tools);
        let line = Line { incoming, outgoing: outgoing_of_line, tools: arriving, begun: false };
        let server = Server { tools, identity, gone: gone.clone() };
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
        (Self { incoming: sender, outgoing, gone }, Box::pin(serve))
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
        let is_json = serde_json::from_str::<IgnoredAny>(message).is_ok();
        let code = if is_json { -32600 } else { -32700 };
        let id = id_of(message);
        let error =
            json!({ "code": code, "message": format!("not a message of the protocol: {err}") });
        (self.outgoing)(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    }
}

/// The id alone. What cannot be read beside it is skipped, so that its sender still gets an answer.
fn id_of(message: &str) -> Value {
    #[derive(Deserialize)]
    struct JustTheId {
        #[serde(default)]
        id: Value,
    }
    // The derived type would also read an array.
    let is_object = message.trim_start().starts_with('{');
    let read = || serde_json::from_str::<JustTheId>(message).ok();
    is_object.then(read).flatten().map_or(Value::Null, |it| it.id)
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

struct Line {
    incoming: mpsc::UnboundedReceiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
    tools: Arc<dyn Tools>,
    /// Whether a request has come; rmcp gives up a line whose first message asks nothing.
    begun: bool,
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
        loop {
            let mut message = self.incoming.recv().await?;
            self.begun |= matches!(message, JsonRpcMessage::Request(_));
            if !self.begun {
                continue;
            }
            // rmcp makes a task of every request, and tasks begin in any order.
            if let JsonRpcMessage::Request(request) = &mut message
                && let ClientRequest::CallToolRequest(call) = &mut request.request
            {
                let arrived = self.tools.arrive(&call.params.name);
                call.extensions.insert(KeptArrival::new(arrived));
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
