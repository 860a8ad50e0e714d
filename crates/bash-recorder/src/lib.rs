//! Checks policy against a real bash: random command lines ([`command_lines`]), and a bash whose programs
//! only record how they were called.
//!
//! Only tests of policy and the fuzz target depend on this crate. It must not know how policy decides.
//!
//! The invariant: a line that policy allows starts only programs that its rules allow.
//!
//! Start at [`RecordingBash`].

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by a panic")]

pub mod command_lines;
mod recording_bash;

pub use recording_bash::RecordingBash;
