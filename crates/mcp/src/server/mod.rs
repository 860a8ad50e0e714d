//! Serves the registry's tools to MCP clients.
//!
//! There are three transports: [`Connection`] for a client in the same process, [`HttpEndpoint`] for clients over
//! HTTP, and [`serve_stdio`] for one over the standard streams. One request handler answers all of them.
//! [`ServedTools`] is what one client may list and call. It uses the same definitions and the same pipeline as
//! every other caller of the registry.

mod client_questions;
mod connection;
mod era;
mod http_endpoint;
mod http_sessions;
mod line;
mod pages;
mod question_form;
mod request_handler;
mod served_resources;
mod served_tools;
mod standard_streams;
mod stdio;
mod tool_calls;
mod tool_changes;
mod unreadable;

pub use connection::Connection;
pub use http_endpoint::HttpEndpoint;
pub use served_tools::{ServedTools, ServerIdentity};
pub use standard_streams::take_standard_streams;
pub use stdio::{StdioLine, serve_stdio};
