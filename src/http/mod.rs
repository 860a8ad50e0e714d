//! The registry over HTTP: REST routes, MCP and the page.
//!
//! [`HttpService`] answers requests, wherever they come from: [`HttpServer`] takes them from a socket, and a host
//! that has a server of its own hands them over by `registry.fetch`. It decides who may ask; what is asked goes
//! the same way as a call from JavaScript.

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
mod patient_stream;
mod routes;
mod serve_connection;
mod server;
mod service;
mod serving;
mod tasks;
mod tools;

pub use access::AccessRules;
pub use handover::HandedAnswer;
pub use server::{HttpServer, ServerAddress, ServerBounds};
pub use service::HttpService;
pub use serving::{FetchOptions, OpenServer, ServeOptions, ServerFacts};
