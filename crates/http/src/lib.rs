//! The registry over HTTP: REST routes, MCP and the page.
//!
//! [`HttpService`] checks access and answers requests. Requests come from a socket ([`HttpServer`]) or from
//! the host's own server, through `registry.fetch`. This crate must not know a particular tool or JavaScript,
//! and decides nothing about a call: after the access check, it takes the same path as one from JavaScript.
//!
//! The invariant: access is checked before the body of a request is read, and a client that disconnects
//! cancels everything that its request started, unless it has an MCP session to return to.
//!
//! Start at [`HttpService::answer`], then `routes`, the table of all routes.

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
