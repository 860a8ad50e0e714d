//! Temporary files next to their target, and the removal of those that killed writers left behind.
//!
//! Their names are numbered slots, and the lowest free slot is used, so that left-over files
//! (strays) are found without listing the directory. A writer holds a lock on its file, which the
//! system releases when the process ends for any reason. So a file whose lock is free is a stray.
//! Process ids would not work: they are reused, and differ between containers and hosts.
//!
//! Any program that may write to the directory can occupy slots permanently. If too many are taken, a
//! random name is used, and strays are found by listing the directory.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, TryLockError},
    hash::{BuildHasher as _, RandomState},
    io,
    os::unix::ffi::OsStrExt as _,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{Mode, OFlags, fstat},
    io::Errno,
};

use super::{
    directory::Directory,
    stamp::{FileKind, Identity},
    temporary_name::{is_random_name, random_name, slot_name},
};

/// The number of slots. More writers rarely work in one directory at once.
const SLOTS: u32 = 64;
/// How many random names are tried.
const RANDOM_NAMES: u32 = 16;
/// How many entries of a directory one write searches for strays.
const MAX_ENTRIES: usize = 100_000;
/// How many strays one write removes.
const MAX_STRAYS: usize = 256;
/// After this many free slots in a row, the search for strays ends.
const FREE_IN_A_ROW: u32 = 16;
/// On a file system without locks, a temporary file of this age is a stray. No write takes that long.
const SURELY_LEFT_BEHIND: Duration = Duration::from_hours(24);

/// A temporary file. It is removed when this is dropped, unless it was renamed.
pub(super) struct TemporaryFile<'a> {
    pub(super) file: File,
    name: OsString,
    directory: &'a Directory,
    moved: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates an empty file in the lowest free slot, removing strays.
    pub(super) fn create(directory: &'a Directory, mode: Mode) -> io::Result<Self> {
        let mut found = None;
        let mut free = 0;
        for slot in 0..SLOTS {
            let name = OsString::from(slot_name(slot));
            if found.is_some() {
                // Later slots are checked too, because several writers may have been killed.
                free = if clear_stray(directory, &name) == Slot::Free { free + 1 } else { 0 };
                if free == FREE_IN_A_ROW {
                    break;
                }
                continue;
            }
            found = match claim(directory, &name, mode)? {
                None if clear_stray(directory, &name) == Slot::Free => {
                    claim(directory, &name, mode)?
                }
                claimed => claimed,
            }
            .map(|file| Self { file, name, directory, moved: false });
        }
        match found {
            Some(found) => Ok(found),
            None => Self::with_random_name(directory, mode),
        }
    }

    /// Creates an empty file with a random name, which cannot be occupied on purpose.
    fn with_random_name(directory: &'a Directory, mode: Mode) -> io::Result<Self> {
        clear_listed_strays(directory);
        for _ in 0..RANDOM_NAMES {
            // `RandomState` uses a new random key each time.
            let number = RandomState::new().hash_one(SystemTime::now());
            let name = OsString::from(random_name(number));
            if let Some(file) = claim(directory, &name, mode)? {
                return Ok(Self { file, name, directory, moved: false });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Records that the file was renamed, so that nothing has to be removed.
    pub(super) fn moved(&mut self) {
        self.moved = true;
    }

    pub(super) fn has_moved(&self) -> bool {
        self.moved
    }

    /// Removes the entry with the temporary name.
    pub(super) fn let_go(&mut self) {
        if !std::mem::replace(&mut self.moved, true) {
            self.directory.remove(&self.name);
        }
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Creates and locks the file of a slot, if the slot is free.
fn claim(directory: &Directory, name: &OsStr, mode: Mode) -> io::Result<Option<File>> {
    // In append mode, because other programs may append to it once it has its final name.
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
    let file = match directory.open(name, flags, mode) {
        Ok(file) => file,
        Err(Errno::EXIST) => return Ok(None),
        Err(err) => return Err(err.into()),
    };
    match file.try_lock() {
        // On a file system without locks, other writers do not take it for a stray either.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        // Another writer locked it before we could, and is removing it.
        Err(TryLockError::WouldBlock) => return Ok(None),
    }
    // Another writer may have removed it already.
    Ok((fstat(&file)?.st_nlink > 0).then_some(file))
}

/// Removes strays with random names.
fn clear_listed_strays(directory: &Directory) {
    let Ok(entries) = directory.entries() else { return };
    let names = entries.take(MAX_ENTRIES).filter_map(|it| {
        let entry = it.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        is_random_name(&name).then_some(name)
    });
    for name in names.take(MAX_STRAYS).collect::<Vec<_>>() {
        clear_stray(directory, &name);
    }
}

#[derive(PartialEq, Eq)]
enum Slot {
    Free,
    Taken,
}

/// Removes the file of a slot if it is a stray.
fn clear_stray(directory: &Directory, name: &OsStr) -> Slot {
    let Ok(Some(stat)) = directory.stat(name) else { return Slot::Free };
    let seen = Identity::of_stat(&stat);
    if seen.kind != FileKind::File {
        return Slot::Taken;
    }
    // The stray may be read-only, if its target is. Read access is enough.
    let Ok(file) = directory
        .open(name, OFlags::RDWR, Mode::empty())
        .or_else(|_| directory.open(name, OFlags::RDONLY, Mode::empty()))
    else {
        return Slot::Taken;
    };
    let left_behind = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => {
            let modified = file.metadata().and_then(|it| it.modified());
            modified.is_ok_and(|it| {
                SystemTime::now().duration_since(it).is_ok_and(|age| age > SURELY_LEFT_BEHIND)
            })
        }
    };
    // The name may belong to another file by now, whose lock is not held.
    let is_same = |now: io::Result<Option<rustix::fs::Stat>>| match (now, Identity::of_file(&file))
    {
        (Ok(Some(now)), Ok(locked)) => Identity::of_stat(&now).is_same_file(&locked),
        _ => false,
    };
    if left_behind && is_same(directory.stat(name)) {
        directory.remove(name);
        return Slot::Free;
    }
    Slot::Taken
}
