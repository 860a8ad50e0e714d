//! The core without Node: one binary, one file per area.

#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(target_os = "linux")]
mod command_lines;
mod commands;
mod editing;
mod hooks;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod names;
mod pipeline;
mod policy_commands;
#[cfg(target_os = "linux")]
mod policy_in_bash;
mod policy_rules;
mod reading;
#[cfg(target_os = "linux")]
mod recording_bash;
#[cfg(target_os = "linux")]
mod shell_edges;
mod specs;
#[cfg(target_os = "linux")]
mod task_output;
mod test_bed;
mod tidy;
