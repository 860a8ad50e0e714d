//! The Model Context Protocol. The registry's tools are served to in-process clients here, on rmcp, which
//! nothing else names.
//!
//! A [`Connection`] hands messages over between a client and rmcp. The server answers the requests, and
//! [`ServedTools`] says what one client may list and call: the same definitions and the same pipeline as
//! every other door.

mod connection;
mod served_tools;
mod server;
mod tool_name;

pub use connection::Connection;
pub use served_tools::{ServedTools, ServerIdentity};
pub use tool_name::mcp_tool_name;
