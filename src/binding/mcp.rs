//! The line between an in-process MCP client in JavaScript and the server in Rust.

use std::sync::{Mutex, MutexGuard, PoisonError};

use napi_derive::napi;

use crate::mcp::Connection;

/// One client's line.
#[napi]
pub struct McpLine(Mutex<Option<Connection>>);

#[napi]
impl McpLine {
    /// Takes one message of the client, as JSON text. A line that is closed takes none.
    #[napi(catch_unwind)]
    pub fn receive(&self, message: String) {
        if let Some(connection) = &*self.lock() {
            connection.receive(&message);
        }
    }

    /// Ends the line and every call that came over it, and lets go of the way back to the client.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        drop(self.lock().take());
    }
}

impl McpLine {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Some(connection)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
