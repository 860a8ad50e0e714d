//! The names of temporary files. Nobody else is to have such a name by chance: whatever bears one and is
//! not in use is removed.

use std::ffi::OsStr;

const PREFIX: &str = ".toolwright-c41f9b2e-";
const SUFFIX: &str = ".tmp";

pub(super) fn slot_name(slot: u32) -> String {
    format!("{PREFIX}{slot}{SUFFIX}")
}

/// A name for when the slots are taken.
#[cfg(unix)]
pub(super) fn unforeseen_name(number: u64) -> String {
    format!("{PREFIX}r{number:016x}{SUFFIX}")
}

/// True for the names of [`unforeseen_name`].
#[cfg(unix)]
pub(super) fn is_unforeseen_name(name: &OsStr) -> bool {
    let behind = name.as_encoded_bytes().strip_prefix(PREFIX.as_bytes());
    is_temporary_name(name) && behind.is_some_and(|it| it.starts_with(b"r"))
}

/// True for names that only temporary files have.
pub fn is_temporary_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes())
}
