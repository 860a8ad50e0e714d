//! Tests of `toolwright-store` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(target_os = "linux")]
mod damage;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod store_bed;
#[cfg(target_os = "linux")]
mod values;
