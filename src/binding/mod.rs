//! The only place that names napi: converts and forwards, decides nothing.
//!
//! Everything crosses as JSON text, which is several times cheaper than building JavaScript objects
//! one property at a time; the facade (`lib/`) parses it where somebody looks at it. Errors cross as
//! data too (see [`envelope`]), so that the facade can throw one class of error with a stable type.

#![allow(unreachable_pub, reason = "napi exports items by name, whatever their path")]

mod callbacks;
mod cancel;
mod envelope;
mod host_tool;
mod listing;
mod mcp;
mod options;
mod registry;
mod yardstick;

#[napi_derive::module_init]
fn init() {
    crate::pipeline::quiet_panic_hook();
}
