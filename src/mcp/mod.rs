//! The Model Context Protocol. Only this module names rmcp.

mod in_process;
mod names;
mod server;

pub use in_process::Connection;
pub use names::mcp_tool_name;
pub use server::{McpServer, ServerIdentity};
