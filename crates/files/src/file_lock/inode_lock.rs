//! The lock between processes: `flock` on the file itself.
//!
//! It needs no separate directory, is seen by every user and container that can open the file, and
//! is the same for all names of the file. A write may replace the file, so after the lock is taken
//! the path is checked: it must still lead to the locked file. A writer locks the new file before
//! the new file gets its name. A file that does not exist yet cannot be locked and does not have to
//! be: creating it fails if another process has created it.
//!
//! Any program may hold such a lock for as long as it likes, so waiting is limited.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::MetadataExt as _,
    thread,
    time::Duration,
};

use rustix::io::Errno;

use super::{LockError, WaitLimit};
use crate::path::WorkspacePath;

/// How long a new editor waits first if another process is waiting already. Longer than the
/// interval at which that process tries again.
const HEAD_START: Duration = Duration::from_millis(2);

/// Locks the file at a path. `None` if it does not exist or the file system has no locks.
pub(super) fn lock_across_processes(
    place: &WorkspacePath,
    limit: &WaitLimit<'_>,
) -> Result<Option<File>, LockError> {
    let mut announced = None;
    let_waiters_go_first(place);
    loop {
        // A file that cannot be opened cannot be edited either, and the edit reports why.
        let Ok(mut file) = place.open() else { return Ok(None) };
        if !file.metadata().is_ok_and(|it| it.is_file()) {
            return Ok(None);
        }
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    limit.check(&|| holder_of(&file))?;
                    announced = announced.or_else(|| announce(place));
                    limit.pause();
                }
                Err(TryLockError::Error(err)) => match (wants_writing(&err), place.open_to_write())
                {
                    (true, Ok(writable)) => file = writable,
                    // Without a lock, only the comparison of the content protects the write.
                    _ => return Ok(None),
                },
            }
        }
        if is_at(&file, place) {
            return Ok(Some(file));
        }
        limit.check(&|| "other processes".to_owned())?;
    }
}

/// Takes a shared lock on the directory to show that a process is waiting. It is only a hint: a
/// program that holds such a lock for no reason delays others by a moment.
fn announce(place: &WorkspacePath) -> Option<File> {
    let directory = File::open(place.absolute().parent()?).ok()?;
    directory.try_lock_shared().ok().map(|()| directory)
}

/// Waits a moment if another process is waiting. Otherwise a process that edits a file repeatedly
/// would rarely let others edit it.
fn let_waiters_go_first(place: &WorkspacePath) {
    let directory = place.absolute().parent().and_then(|it| File::open(it).ok());
    if directory.is_some_and(|it| matches!(it.try_lock(), Err(TryLockError::WouldBlock))) {
        thread::sleep(HEAD_START);
    }
}

/// Whether the lock needs a file that is open for writing, as on NFS.
fn wants_writing(err: &io::Error) -> bool {
    Errno::from_io_error(err) == Some(Errno::BADF)
}

fn is_at(file: &File, place: &WorkspacePath) -> bool {
    let identity = |it: fs::Metadata| (it.dev(), it.ino());
    match (file.metadata(), place.absolute().symlink_metadata()) {
        (Ok(locked), Ok(found)) => identity(locked) == identity(found),
        _ => false,
    }
}

/// Describes the holder of the lock, if the system names it.
fn holder_of(file: &File) -> String {
    let unknown = || "another process".to_owned();
    let Some(id) = holder_id(file) else { return unknown() };
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    let name: String = name.trim_end().chars().filter(|it| !it.is_control()).collect();
    if name.is_empty() {
        return format!("another process ({id})");
    }
    format!("another process ({id}, `{name}`)")
}

#[cfg(target_os = "linux")]
fn holder_id(file: &File) -> Option<u32> {
    use rustix::fs::{major, minor};
    use std::io::Read as _;

    let metadata = file.metadata().ok()?;
    let device = metadata.dev();
    let wanted = format!("{:02x}:{:02x}:{}", major(device), minor(device), metadata.ino());
    let mut locks = String::new();
    // This file lists all locks of the system.
    File::open("/proc/locks").ok()?.take(1 << 20).read_to_string(&mut locks).ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        let is_flock = fields.nth(1) == Some("FLOCK");
        let id = fields.nth(2)?;
        (is_flock && fields.next() == Some(&wanted)).then(|| id.parse().ok())?
    })
}

#[cfg(not(target_os = "linux"))]
fn holder_id(_file: &File) -> Option<u32> {
    None
}
