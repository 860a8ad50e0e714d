//! The line between an in-process MCP client in JavaScript and the server in Rust.

use napi_derive::napi;

use crate::mcp::Connection;

/// One client's line.
#[napi]
pub struct McpLine(pub(super) Connection);

#[napi]
impl McpLine {
    /// Takes one message of the client, as JSON text.
    #[napi(catch_unwind)]
    pub fn receive(&self, message: String) {
        self.0.receive(&message);
    }

    /// Ends the line and every call that came over it.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.0.close();
    }
}
