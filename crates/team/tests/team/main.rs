//! Tests of `toolwright-team` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod mail;
