//! The lock that processes share: `flock` on the file itself.
//!
//! It needs no directory of its own, is seen by every user and container that can open the file, and
//! holds for all of its names. A write may replace the file by another one, so whoever gets the lock
//! looks whether the path still leads to what was locked. The writer holds the lock of the new file too
//! before it has its name. A file that does not exist yet cannot be locked and need not be: it is
//! created by a step that fails if another has done it.
//!
//! Any program may hold such a lock, for reasons of its own or out of malice, so nobody waits forever.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::MetadataExt as _,
    thread,
    time::Duration,
};

use rustix::io::Errno;

use super::{LockError, Patience};
use crate::workspace::path::WorkspacePath;

/// Longer than a waiting process takes to look again.
const COURTESY: Duration = Duration::from_millis(2);

/// Locks the file at a place; nothing where there is none, or where the file system has no locks.
pub(super) fn lock_across_processes(
    place: &WorkspacePath,
    patience: &Patience<'_>,
) -> Result<Option<File>, LockError> {
    let mut announced = None;
    let_waiters_go_first(place);
    loop {
        // What cannot be opened cannot be edited either; the edit says why.
        let Ok(mut file) = place.open() else { return Ok(None) };
        if !file.metadata().is_ok_and(|it| it.is_file()) {
            return Ok(None);
        }
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    patience.check(&|| holder_of(&file))?;
                    announced = announced.or_else(|| announce(place));
                    patience.pause();
                }
                Err(TryLockError::Error(err)) => match (wants_writing(&err), place.open_to_write())
                {
                    (true, Ok(writable)) => file = writable,
                    // Comparing the content before and after the write has to do.
                    _ => return Ok(None),
                },
            }
        }
        if is_at(&file, place) {
            return Ok(Some(file));
        }
        patience.check(&|| "other processes".to_owned())?;
    }
}

/// Tells newcomers that somebody is waiting, by a shared lock on the directory. It is a hint and no more:
/// whoever holds one for no reason delays others by a moment.
fn announce(place: &WorkspacePath) -> Option<File> {
    let directory = File::open(place.absolute().parent()?).ok()?;
    directory.try_lock_shared().ok().map(|()| directory)
}

/// Without this, a process that edits a file again and again would hardly ever let another in between.
fn let_waiters_go_first(place: &WorkspacePath) {
    let directory = place.absolute().parent().and_then(|it| File::open(it).ok());
    if directory.is_some_and(|it| matches!(it.try_lock(), Err(TryLockError::WouldBlock))) {
        thread::sleep(COURTESY);
    }
}

/// NFS makes of this lock one that only those who may write can have.
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

/// Who holds the lock, as far as the system tells.
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
    // Every lock of the system is in it.
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
