//! The N-API surface of toolwright, the tool layer of an agent: the classes and functions that the
//! JavaScript facade (`lib/`) loads from the addon.
//!
//! It must not know a tool, a rule of policy or the wording of an error: it converts and forwards.
//! Everything it calls is in a crate of `crates/`, mostly in `toolwright_host` and
//! `toolwright_pipeline`. ARCHITECTURE.md follows a call through them.
//!
//! The invariant: values and errors cross as JSON text, and no panic crosses. Text is several times
//! cheaper than building JavaScript objects one property at a time, and the facade parses it only when
//! a value is needed. An error crosses as data too (see [`envelope`]), so that the facade can throw one
//! error class with a stable type.
//!
//! Start at [`calls`], which receives a call, then [`wire`], which returns its answer, and
//! [`registry`], which holds the registry. [`host_calls`] is the way back, from Rust to the host's
//! functions.

#![allow(
    clippy::too_many_arguments,
    reason = "napi reads an object property by property, which is slower"
)]
#![allow(clippy::needless_pass_by_value, reason = "napi passes owned values")]

pub mod bus;
mod callbacks;
pub mod calls;
pub mod cancel;
pub mod doctor;
mod envelope;
pub mod format;
mod host_calls;
pub mod http;
pub mod indexes;
pub mod mcp;
mod mcp_servers;
pub mod plugins;
pub mod policy;
pub mod registry;
pub mod state;
pub mod team;
mod wire;
pub mod yardstick;

#[napi_derive::module_init]
fn init() {
    toolwright_pipeline::quiet_panic_hook();
}
