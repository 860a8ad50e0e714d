//! Serves the registry's tools to MCP clients.
//!
//! A [`Connection`] hands messages over between a client in the same process and rmcp, and a [`HttpDoor`] does so
//! for clients over HTTP. The request handler
//! answers them, whatever door they come through, and [`ServedTools`] says what one client may list and call:
//! the same definitions and the same pipeline as every other door.

mod client_questions;
mod connection;
mod era;
mod http_door;
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
pub use http_door::HttpDoor;
pub use served_tools::{ServedTools, ServerIdentity};
pub use standard_streams::take_standard_streams;
pub use stdio::{StdioLine, serve_stdio};
