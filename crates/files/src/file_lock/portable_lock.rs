//! The lock between processes on systems other than Unix. There a lock on the file itself would
//! prevent others from reading it, so an empty file in the user's temporary directory is locked.

use std::fs::{self, File, TryLockError};

use super::{LockError, WaitLimit};
use crate::path::WorkspacePath;

/// Locks the file at a path. `None` if that is not possible.
pub(super) fn lock_across_processes(
    place: &WorkspacePath,
    limit: &WaitLimit<'_>,
) -> Result<Option<File>, LockError> {
    let directory = std::env::temp_dir().join("toolwright-locks");
    let name = blake3::hash(place.absolute().as_os_str().as_encoded_bytes()).to_hex();
    let opened = fs::create_dir_all(&directory).and_then(|()| {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(directory.join(name.as_str()))
    });
    // Without a lock, only the comparison of the content protects the write.
    let Ok(file) = opened else { return Ok(None) };
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                limit.check(&|| "another process".to_owned())?;
                limit.pause();
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
