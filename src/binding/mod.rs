//! The only place that names napi: converts and forwards, decides nothing.
//!
//! Everything crosses as JSON text, which is several times cheaper than building JavaScript objects
//! one property at a time; the facade (`lib/`) parses it where somebody looks at it. Errors cross as
//! data too (see [`envelope`]), so that the facade can throw one class of error with a stable type.

#![allow(clippy::too_many_arguments, reason = "one object would be read property by property")]
#![allow(clippy::needless_pass_by_value, reason = "napi hands over owned values")]

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
mod listing;
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
    crate::pipeline::quiet_panic_hook();
}
