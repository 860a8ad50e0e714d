//! toolwright: the tool layer of an agent.
//!
//! One call, from top to bottom:
//!
//! 1. [`binding`] takes it from JavaScript (or [`mcp`] from an MCP client, or [`http`] from a REST client): a
//!    name and raw JSON. [`host`] is the registry that all of them belong to, set up as the host wants it.
//! 2. [`pipeline`] finds the tool in the [`registry`] and carries the call through the rest.
//! 3. [`tool`] is the contract. `prepare` turns raw JSON into something that could run: validated,
//!    coerced, every path resolved, everything it will touch declared.
//! 4. [`policy`] judges what was declared: allow, ask or deny.
//! 5. [`hooks`] may stop the call, or rewrite its input, which goes back to 3.
//! 6. [`confirm`] asks a person where policy said so, and makes the one value that may run.
//! 7. [`pipeline`] executes it: within its time, cancellable, behind a panic fence.
//!    The tool itself is one file in [`tools`], a thin layer over an engine in [`workspace`].
//! 8. [`hooks`] see the answer; it is bounded and goes back as one [`tool::ToolOutput`].
//!
//! Commands run in [`process`], where what they start is found and ended with them.
//! Agents of a [`team`] send each other messages.
//! [`session`] is what lasts between calls, and [`store`] what lasts longer. [`definition`] is what models are told of the tools, and
//! [`provider`] knows the wire formats of model providers.

pub mod agents;
#[cfg(feature = "binding")]
pub mod binding;
pub mod confirm;
pub mod definition;
pub mod error;
mod git;
pub mod hooks;
pub mod host;
pub mod http;
pub mod mcp;
pub mod net;
mod path_text;
pub mod pipeline;
pub mod plugin;
pub mod policy;
pub mod policy_files;
pub mod process;
pub mod provider;
pub mod registry;
mod regular_file;
pub mod session;
pub mod shell;
pub mod state;
pub mod store;
pub mod team;
mod terminal;
mod terminal_parser;
pub mod tool;
pub mod tools;
pub mod workspace;
