//! Connects to other MCP servers and brings their tools into the registry.
//!
//! [`McpServers`] has one `ServerLink` for each server that the host names. A task keeps each link connected
//! (`keep_connected`): it opens a door to the server (`stdio`, `http` or `sse`), agrees on a protocol
//! (`handshake`), lists the tools (`discovery`), registers them as `RemoteTool`s, and waits for the end of the
//! connection to begin again. A call of such a tool passes the same pipeline as every other, and its last step
//! is a request to the server.
//!
//! What a server sends is not trusted: every list, message and text has a bound, and `guarded_transport` keeps
//! floods of notifications and requests away from rmcp.

mod config;
mod connector;
mod discovery;
mod guarded_transport;
mod handshake;
mod http;
mod http_answer;
mod keep_connected;
mod message_pipe;
mod remote_answer;
mod remote_tool;
mod resources;
mod server_link;
mod server_requests;
mod servers;
mod sse;
mod status;
#[cfg(unix)]
mod stdio;

pub use config::McpServerConfig;
pub use resources::{ResourceLister, ResourceReader};
pub use servers::McpServers;
pub use status::{McpServerState, McpServerStatus};
