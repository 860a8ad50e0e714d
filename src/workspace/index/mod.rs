//! The index of a workspace: what is in it, kept up to date by the kernel's events.
#![allow(dead_code, reason = "used once the parts are joined")]

#[cfg(target_os = "linux")]
mod entry_table;
#[cfg(target_os = "linux")]
mod event_queue;
#[cfg(target_os = "linux")]
mod file_stamp;
#[cfg(target_os = "linux")]
mod hard_links;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod new_names;
#[cfg(target_os = "linux")]
mod reconcile;
#[cfg(target_os = "linux")]
mod root_check;
#[cfg(target_os = "linux")]
mod scan;
#[cfg(target_os = "linux")]
mod setting_files;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod tree;
mod why_cold;

#[cfg(all(test, target_os = "linux"))]
mod tests;
