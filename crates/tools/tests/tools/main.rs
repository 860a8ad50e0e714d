//! Tests of `toolwright-tools` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod agents;
mod commands;
mod editing;
#[cfg(target_os = "linux")]
mod keepers;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod names;
mod reading;
mod shared_state;
#[cfg(target_os = "linux")]
mod shell_edges;
#[cfg(target_os = "linux")]
mod shell_text;
mod specs;
#[cfg(target_os = "linux")]
mod task_output;
