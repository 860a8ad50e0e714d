//! The N-API surface of toolwright, the tool layer of an agent. It converts and forwards; it decides
//! nothing.
//!
//! One call, from top to bottom. Each step is a crate in `crates/`:
//!
//! 1. [`calls`] receives it from JavaScript: a name and raw JSON. An MCP client enters through
//!    `toolwright_mcp`, and a REST client through `toolwright_http`. All of them use the registry that
//!    `toolwright_host` has set up as the host wants it.
//! 2. `toolwright_pipeline` finds the tool and takes the call through all stages.
//! 3. `toolwright_core` is the contract of tools. `prepare` turns raw JSON into a call that could run:
//!    validated, coerced, every path resolved, everything it will touch declared.
//! 4. `toolwright_policy` judges the declared accesses: allow, ask or deny.
//! 5. Hooks may block the call, or rewrite its input, which returns to step 3.
//! 6. If policy says so, a person is asked. Only a permitted call becomes a value that can be executed.
//! 7. The call runs within its time limit, cancellable, behind a panic fence. The tool itself is one
//!    file in `toolwright_tools`, a thin layer over an engine: `toolwright_files`,
//!    `toolwright_search`, `toolwright_process`, `toolwright_web`.
//! 8. Hooks see the result, which is bounded and returned as one `ToolOutput`.
//!
//! Values cross as JSON text, which is several times cheaper than building JavaScript objects one
//! property at a time. The facade (`lib/`) parses the text when a value is needed. Errors cross as
//! data too (see [`envelope`]), so that the facade can throw one error class with a stable type.

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
