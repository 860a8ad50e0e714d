//! The lock that processes share on systems other than Unix, where a lock on the file itself would keep
//! everybody from reading it: on an empty file in the user's own temporary directory.

use std::fs::{self, File, TryLockError};

use super::{LockError, Patience};
use crate::workspace::path::WorkspacePath;

/// Locks the file at a place; nothing where no lock can be had.
pub(super) fn lock_across_processes(
    place: &WorkspacePath,
    patience: &Patience<'_>,
) -> Result<Option<File>, LockError> {
    let directory = std::env::temp_dir().join("toolwright-locks");
    let name = blake3::hash(place.absolute().as_os_str().as_encoded_bytes()).to_hex();
    let opened = fs::create_dir_all(&directory).and_then(|()| {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(directory.join(name.as_str()))
    });
    // Comparing the content before and after the write has to do.
    let Ok(file) = opened else { return Ok(None) };
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                patience.check(&|| "another process".to_owned())?;
                patience.pause();
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
