//! Rules about the source tree that the compiler does not check.

#![allow(clippy::unwrap_used, reason = "tests")]

mod architecture;
mod effects;
mod running_programs;
mod structure;
mod tools;
mod wording;
