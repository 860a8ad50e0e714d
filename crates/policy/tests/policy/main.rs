//! Tests of `toolwright-policy` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bounds;
mod commands;
mod everyday;
#[cfg(target_os = "linux")]
mod in_bash;
mod meaning;
mod programs;
mod rules;
