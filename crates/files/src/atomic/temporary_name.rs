//! The names of temporary files. They are chosen so that no other file has such a name by chance, because
//! files with such a name that are not in use are removed.

use std::ffi::OsStr;

const PREFIX: &str = ".toolwright-c41f9b2e-";
const SUFFIX: &str = ".tmp";

pub(super) fn slot_name(slot: u32) -> String {
    format!("{PREFIX}{slot}{SUFFIX}")
}

/// A name that is used if the slots are taken.
#[cfg(unix)]
pub(super) fn random_name(number: u64) -> String {
    format!("{PREFIX}r{number:016x}{SUFFIX}")
}

/// Whether this is a name made by [`random_name`].
#[cfg(unix)]
pub(super) fn is_random_name(name: &OsStr) -> bool {
    let behind = name.as_encoded_bytes().strip_prefix(PREFIX.as_bytes());
    is_temporary_name(name) && behind.is_some_and(|it| it.starts_with(b"r"))
}

/// Whether only temporary files have such a name.
pub fn is_temporary_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes())
}
