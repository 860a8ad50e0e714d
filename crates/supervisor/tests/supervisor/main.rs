//! Tests of `toolwright-supervisor` through its public API: one binary, one file per subject.

#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod levels;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod mounts;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
#[allow(clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod sandbox_bed;
