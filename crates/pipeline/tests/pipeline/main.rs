//! Tests of `toolwright-pipeline` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod agent_sessions;
mod answers;
mod calls;
#[cfg(target_os = "linux")]
mod command_hooks;
mod hooks;
mod kept_grants;
mod long_lines;
mod policy_families;
