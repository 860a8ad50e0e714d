//! The Model Context Protocol. `server` serves the registry's tools to clients. `client` adds the tools of
//! other servers to the registry. Only this crate depends on rmcp.
//!
//! It must not know a particular tool, JavaScript or the HTTP server, and decides nothing about a call: all
//! calls pass through the pipeline.
//!
//! The invariant: the other side is not trusted. Every list, message and text that it sends has a size limit,
//! and the number of its unanswered requests is limited.
//!
//! Start at [`ServedTools`] for the server, and at [`McpServers`] for the client.

mod client;
mod server;
mod tool_name;

pub use server::{
    Connection, HttpEndpoint, ServedTools, ServerIdentity, StdioLine, serve_stdio,
    take_standard_streams,
};
pub use tool_name::mcp_tool_name;

pub use client::{
    McpServerConfig, McpServerState, McpServerStatus, McpServers, ResourceLister, ResourceReader,
};
