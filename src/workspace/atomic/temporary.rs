//! Temporary files beside their target, and those that a killed writer left behind.
//!
//! Their names are numbered slots, the lowest free one first, so strays are found without listing
//! the directory. A writer holds a lock on its file, which the system releases when the process is
//! gone, however it went: a slot whose lock can be had is a stray. Process ids would lie across
//! containers and hosts, and be reused.
//!
//! Whoever may write to the directory can occupy slots for good. Where many are taken, a name nobody can
//! foresee is used, and strays are looked for in the directory's list.

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
    stamp::{Identity, Kind},
    temporary_name::{is_unforeseen_name, slot_name, unforeseen_name},
};

/// As many writers are in one directory at once, at most times.
const SLOTS: u32 = 64;
/// As many names that nobody could foresee are tried.
const UNFORESEEN: u32 = 16;
/// As many entries of a directory are looked at for strays, and as many strays are cleared, by one write.
const MAX_ENTRIES: usize = 100_000;
const MAX_STRAYS: usize = 256;
/// After as many free slots in a row, nothing is expected behind.
const FREE_IN_A_ROW: u32 = 16;
/// Where the file system has no locks, only age tells, and no write takes so long.
const SURELY_LEFT_BEHIND: Duration = Duration::from_hours(24);

/// A file that is removed unless it is renamed away.
pub(super) struct Temporary<'a> {
    pub(super) file: File,
    name: OsString,
    directory: &'a Directory,
    moved: bool,
}

impl<'a> Temporary<'a> {
    /// Makes an empty file in the lowest free slot, clearing strays out of the way.
    pub(super) fn create(directory: &'a Directory, mode: Mode) -> io::Result<Self> {
        let mut found = None;
        let mut free = 0;
        for slot in 0..SLOTS {
            let name = OsString::from(slot_name(slot));
            if found.is_some() {
                // Every slot is looked at, also past the own one: several writers may have died.
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
            None => Self::unforeseen(directory, mode),
        }
    }

    /// The same under a name that nobody can have taken on purpose.
    fn unforeseen(directory: &'a Directory, mode: Mode) -> io::Result<Self> {
        clear_listed_strays(directory);
        for _ in 0..UNFORESEEN {
            // A new key each time, from the system's randomness.
            let number = RandomState::new().hash_one(SystemTime::now());
            let name = OsString::from(unforeseen_name(number));
            if let Some(file) = claim(directory, &name, mode)? {
                return Ok(Self { file, name, directory, moved: false });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The file has its final name now, so there is nothing to remove.
    pub(super) fn moved(&mut self) {
        self.moved = true;
    }

    pub(super) fn has_moved(&self) -> bool {
        self.moved
    }

    /// Removes what has the temporary name.
    pub(super) fn let_go(&mut self) {
        if !std::mem::replace(&mut self.moved, true) {
            self.directory.remove(&self.name);
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Creates and locks the file of a slot, if the slot is free.
fn claim(directory: &Directory, name: &OsStr, mode: Mode) -> io::Result<Option<File>> {
    // Appending: once the file has its final name, others append to it as well.
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
    let file = match directory.open(name, flags, mode) {
        Ok(file) => file,
        Err(Errno::EXIST) => return Ok(None),
        Err(err) => return Err(err.into()),
    };
    match file.try_lock() {
        // Without locks nobody else can take it for a stray either.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        // Another writer came between creation and lock, and is removing it.
        Err(TryLockError::WouldBlock) => return Ok(None),
    }
    // Or it already has.
    Ok((fstat(&file)?.st_nlink > 0).then_some(file))
}

/// Removes what killed writers left behind under names that cannot be guessed.
fn clear_listed_strays(directory: &Directory) {
    let Ok(entries) = directory.entries() else { return };
    let names = entries.take(MAX_ENTRIES).filter_map(|it| {
        let entry = it.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        is_unforeseen_name(&name).then_some(name)
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

/// Removes the file of a slot if its writer is gone.
fn clear_stray(directory: &Directory, name: &OsStr) -> Slot {
    let Ok(Some(stat)) = directory.stat(name) else { return Slot::Free };
    let seen = Identity::of_stat(&stat);
    if seen.kind != Kind::File {
        return Slot::Taken;
    }
    // A stray of a file that may not be written is itself not writable; reading is enough.
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
    // The name may have come to mean another file since; that one's lock is not held.
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
