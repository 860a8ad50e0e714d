//! The registry over HTTP: REST routes, MCP and the page.
//!
//! [`HttpService`] checks access and answers requests. Requests come from a socket ([`HttpServer`]) or from
//! the host's own server, through `registry.fetch`. After the access check, a tool call takes the same path
//! as a call from JavaScript.

mod access;
mod addressed_name;
mod answers;
mod bodies;
mod call_events;
mod call_records;
mod calls;
mod confirmations;
mod connections;
mod events;
mod handover;
mod mcp;
mod open_api;
mod page;
mod routes;
mod serve_connection;
mod server;
mod service;
mod serving;
mod tasks;
mod tools;
mod write_timeout;

pub use access::AccessRules;
pub use handover::HandedAnswer;
pub use server::{HttpServer, ServerAddress, ServerBounds};
pub use service::HttpService;
pub use serving::{FetchOptions, OpenServer, ServeOptions};
