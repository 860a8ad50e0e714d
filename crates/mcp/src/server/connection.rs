//! The connection of a client in the same process. Messages are exchanged as JSON texts.

use std::{future::Future, pin::Pin, sync::Arc};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    line::{ClientMessage, Incoming, Outgoing, serve_line},
    unreadable::unreadable,
};

/// The server's end of the connection to one client.
pub struct Connection {
    incoming: mpsc::UnboundedSender<ClientMessage>,
    outgoing: Arc<dyn Fn(String) + Send + Sync>,
    disconnected: CancellationToken,
}

impl Connection {
    /// Opens a connection. The returned future serves the client until the connection is closed; the caller must
    /// run it.
    pub fn open(
        tools: ServedTools,
        outgoing: Arc<dyn Fn(String) + Send + Sync>,
    ) -> (Self, Pin<Box<dyn Future<Output = ()> + Send>>) {
        let disconnected = CancellationToken::new();
        let (sender, incoming) = mpsc::unbounded_channel();
        let serve = serve_line(
            tools,
            Incoming::Unbounded(incoming),
            Outgoing::Function(Arc::clone(&outgoing)),
            disconnected.clone(),
        );
        (Self { incoming: sender, outgoing, disconnected }, Box::pin(serve))
    }

    /// Receives one message of the client.
    pub fn receive(&self, message: &str) {
        match serde_json::from_str(message) {
            // After the connection is closed, messages are dropped.
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
