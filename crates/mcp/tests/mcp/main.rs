//! Tests of `toolwright-mcp` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod http;
mod lists;
mod mcp_bed;
mod questions;
