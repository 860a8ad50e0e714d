//! The Model Context Protocol, on rmcp, which nothing else names.
//!
//! [`server`] serves the registry's tools to clients, and [`client`] brings the tools of other servers into the
//! registry.

pub mod client;
pub mod server;
mod tool_name;

pub use server::{
    Connection, HttpDoor, ServedTools, ServerIdentity, StdioLine, serve_stdio,
    take_standard_streams,
};
pub use tool_name::mcp_tool_name;
