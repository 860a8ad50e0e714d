//! The Model Context Protocol, as far as it has to do with the registry. The protocol itself is
//! `crates/mcp-server`.

mod names;
mod server;

pub use names::mcp_tool_name;
pub use server::ServedTools;
pub use toolwright_mcp_server::{Connection, ServerIdentity};
