//! The Model Context Protocol. Only this module names rmcp.
//!
//! [`server`] serves the registry's tools to clients. [`client`] adds the tools of other servers to the
//! registry.

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
