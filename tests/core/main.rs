//! The core without Node: one binary, one file per area.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
#[cfg(target_os = "linux")]
#[allow(clippy::duplicate_mod, reason = "the host and the supervisor share files")]
mod command_groups;
#[cfg(target_os = "linux")]
mod command_hooks;
#[cfg(target_os = "linux")]
mod command_lines;
mod command_proxy;
mod command_proxy_bounds;
mod command_proxy_client;
mod commands;
mod editing;
mod hooks;
mod http_access;
mod http_bed;
mod http_bounds;
mod http_calls;
mod http_events;
mod http_events_bed;
mod http_events_calls;
mod http_events_confirmations;
#[cfg(target_os = "linux")]
mod http_events_tasks;
mod http_openapi;
#[cfg(target_os = "linux")]
mod keepers;
mod kept_grants;
mod marked_processes;
mod mcp_bed;
mod mcp_http;
mod mcp_lists;
mod mcp_questions;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod names;
mod pipeline;
mod policy_bounds;
mod policy_commands;
mod policy_everyday;
mod policy_families;
#[cfg(target_os = "linux")]
mod policy_in_bash;
mod policy_meaning;
mod policy_programs;
mod policy_rules;
mod reading;
#[cfg(target_os = "linux")]
mod recording_bash;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, clippy::panic, clippy::duplicate_mod, reason = "tests")]
mod sandbox_bed;
#[cfg(target_os = "linux")]
mod sandbox_landlock;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod sandbox_levels;
#[cfg(target_os = "linux")]
mod sandbox_limits;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod sandbox_mounts;
#[cfg(target_os = "linux")]
mod sandbox_processes;
mod shared_state;
#[cfg(target_os = "linux")]
mod shell_edges;
#[cfg(target_os = "linux")]
mod shell_text;
mod specs;
#[cfg(target_os = "linux")]
mod store;
#[cfg(target_os = "linux")]
mod store_bed;
#[cfg(target_os = "linux")]
mod store_damage;
#[cfg(target_os = "linux")]
mod store_processes;
#[cfg(target_os = "linux")]
mod task_output;
mod teams;
mod test_bed;
mod tidy;
mod tidy_layers;
mod web_answers;
mod web_guard;
mod web_lifetime;
mod web_redirects;
mod web_server;
mod web_tls;
