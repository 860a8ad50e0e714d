//! What tests of several crates share: a workspace with a pipeline and all built-in tools, the program of the
//! supervisor, and a way to find the processes that a test has started.
//!
//! Only tests depend on this crate. It must not know JavaScript or a particular test.
//!
//! The invariant: a bed uses only its own temporary directories, so tests can run at the same time, and
//! nothing of it outlives its test.
//!
//! Start at [`TestBed`].

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by a panic")]

mod bed;
#[cfg(target_os = "linux")]
mod marked_processes;
mod shared_store;
mod supervisor_program;

pub use bed::{TestBed, command_facts, kind};
#[cfg(target_os = "linux")]
pub use marked_processes::{NONE_ALIVE, alive, marker};
pub use shared_store::{bed_on, store};
pub use supervisor_program::supervisor_program;
