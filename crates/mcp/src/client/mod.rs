//! Connects to other MCP servers and adds their tools to the registry.
//!
//! [`McpServers`] has one `ServerLink` for each server that the host configures. A task keeps each link
//! connected (`keep_connected`): it opens a transport (`stdio`, `http` or `sse`), negotiates the protocol
//! (`handshake`), lists the tools (`discovery`), registers them as `RemoteTool`s, and reconnects when the
//! connection ends. A call of such a tool passes through the same pipeline as every other call; its last step is
//! a request to the server.
//!
//! Servers are not trusted: every list, message and text has a size limit, and `guarded_transport` keeps floods
//! of notifications and requests away from rmcp.

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
