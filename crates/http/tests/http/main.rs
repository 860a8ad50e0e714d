//! Tests of `toolwright-http` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

mod access;
mod bounds;
mod calls;
mod events;
mod events_bed;
mod events_calls;
mod events_confirmations;
#[cfg(target_os = "linux")]
mod events_tasks;
mod http_bed;
mod openapi;
