//! The core without Node: one binary, one file per area.

#![expect(clippy::unwrap_used, reason = "tests")]

mod editing;
mod pipeline;
mod reading;
mod specs;
mod test_bed;
mod tidy;
