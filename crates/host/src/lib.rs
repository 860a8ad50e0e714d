//! Builds a registry from the options of a host: policy sources, hooks, plugins, MCP servers and the host's
//! tools become one pipeline.
//!
//! It must not know napi or JavaScript: a function of the host is a [`HostFunction`]. The root crate only
//! converts between JavaScript and this crate, and decides nothing.
//!
//! The invariant: options and answers of the host are checked before they are used, and a mistake in them is
//! reported with the name of the option or function.
//!
//! Start at [`HostRegistry`], then [`HostOptions`].

mod doctor;
mod event_log;
mod handler_answer;
mod hook_spec;
mod host_function;
mod host_handler;
mod host_plugins;
mod host_registry;
mod host_store;
mod host_tool;
mod index_options;
mod json_text;
mod mcp_servers;
mod options;
mod own_invocation;
mod plugin_validation;
mod policy_setup;
mod registry_events;
mod registry_state;
mod sandbox_options;
mod search_options;
mod store_options;
mod text_call;
mod tool_info;
mod web_options;

pub use doctor::InstallationFacts;
pub(crate) use event_log::EventLog;
pub use event_log::{LogPart, LogReader};
pub use host_function::HostFunction;
pub use host_registry::{HostRegistry, RegisteredTool};
pub use host_tool::HostToolSpec;
pub(crate) use index_options::IndexStatusInfo;
pub use json_text::{parsed, parsed_input, validated};
pub use options::HostOptions;
pub use plugin_validation::{validate_plugin_file, validate_plugin_tool};
pub use policy_setup::stand_alone_engine;
pub use registry_events::within_bounds;
pub use text_call::{TextCall, TextTurnCall};
pub use tool_info::RegisteredToolInfo;
