//! The core without Node: one binary, one file per area.

#![expect(clippy::unwrap_used, reason = "tests")]

mod commands;
mod editing;
mod hooks;
mod pipeline;
mod policy_commands;
mod policy_in_bash;
mod policy_rules;
mod reading;
mod specs;
mod test_bed;
mod tidy;
