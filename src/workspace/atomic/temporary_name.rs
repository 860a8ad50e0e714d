//! The names of temporary files. Nobody else is to have such a name by chance: whatever bears one and is
//! not in use is removed.

use std::ffi::OsStr;

const PREFIX: &str = ".toolwright-c41f9b2e-";
const SUFFIX: &str = ".tmp";

pub(super) fn slot_name(slot: u32) -> String {
    format!("{PREFIX}{slot}{SUFFIX}")
}

/// True for names that only temporary files have.
pub fn is_temporary_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes())
}
