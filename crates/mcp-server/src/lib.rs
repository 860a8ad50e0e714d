//! The Model Context Protocol for whoever has tools. Nothing else names rmcp.
//!
//! A crate of its own because generic code is built as the crate that uses it is: rmcp is much of it, and
//! none of it is hot.

mod connection;
mod server;
mod tools;

pub use connection::Connection;
pub use server::ServerIdentity;
pub use tools::{Answer, Arrived, Block, Call, Definition, Step, Tools};
