//! Checks policy against a real bash: random command lines ([`command_lines`]), and a bash whose programs
//! only record how they were called ([`RecordingBash`]). A line that policy allows must start only programs
//! that its rules allow.
//!
//! Only tests of policy and the fuzz target depend on this crate.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by a panic")]

pub mod command_lines;
mod recording_bash;

pub use recording_bash::RecordingBash;
