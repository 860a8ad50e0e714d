//! What a command must not make stands there while it runs, empty and read-only. The keeper makes it before
//! the command starts and removes it in the end. Keepers that need the same one share it: each holds a lock
//! on it, and the last one removes it. Where one command follows the other, the supervisor keeps it for them.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::{
    fs::{
        AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps, flock, fstat,
        futimens, mkdirat, openat, statat, unlinkat,
    },
    io::Errno,
};

use super::{
    MissingPlace, PlaceKind, SandboxError, SandboxPlan,
    kept_placeholders::send_placeholder,
    mount_calls::{open_place, wait_for_replacement},
    placeholder::{
        PLACEHOLDER_NANOSECONDS, PLACEHOLDER_SECONDS, PLACEHOLDER_SECONDS_LATER,
        is_placeholder_time,
    },
};

/// How often one is tried to be made, while others remove it.
const MAX_TRIES: usize = 200;
/// How often an empty one that has just been made is looked at again, because it may be marked by now. On a busy machine
/// its maker may not run for tens of milliseconds in between; whoever takes it for somebody's own then has no lock on it,
/// and sees it vanish.
const MAX_LOOKS: usize = 150;
/// The pause between two tries.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// How old one may be that is not marked yet, in seconds.
const MARKING_SECONDS: i64 = 2;

/// The rights on them are ordinary ones: the mount keeps the command away, and nobody else is in its way.
const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// The placeholders of one command. Dropping them removes those that no other command needs.
#[derive(Default)]
pub(crate) struct Placeholders(Vec<Placeholder>);

/// One placeholder that this process has a lock on.
pub(crate) struct Placeholder {
    pub(crate) directory: OwnedFd,
    pub(crate) name: PathBuf,
    pub(crate) kind: PlaceKind,
    /// Open for as long as it is needed: the lock is on it.
    pub(crate) file: OwnedFd,
    /// True when this process has made it.
    pub(crate) is_own: bool,
}

/// What came of one try.
enum MakeAttempt {
    Made(Placeholder),
    /// Something real is there, or nothing can be made there.
    NotNeeded,
    /// Something empty is there that may be a placeholder in a moment.
    LookAgain,
    TryAgain,
}

impl Placeholders {
    /// Makes what a plan needs. What is read-only and gone by now must not be made by the command either. What is
    /// read-only and a placeholder was being made when the plan was, and looked like somebody's own: without a lock on
    /// it, it would be removed while it is mounted.
    pub(crate) fn make(plan: &SandboxPlan) -> Result<Self, SandboxError> {
        let mut all = Self::default();
        let unlike_planned: Vec<MissingPlace> = plan
            .read_only
            .iter()
            .filter_map(|path| {
                let kind = placeholder_kind(path)
                    .or_else(|| stays_gone(path).then(|| likely_kind(path)))?;
                Some(MissingPlace { path: path.clone(), kind })
            })
            .collect();
        for place in plan.missing.iter().chain(&unlike_planned) {
            let made = make(place).map_err(|cause| {
                let path = place.path.display();
                SandboxError::refused(&format!("`{path}` cannot be kept from being made"), cause)
            })?;
            all.0.extend(made);
        }
        Ok(all)
    }

    /// Whether something that a plan takes for real is gone, or is a placeholder: it may have been removed after these
    /// were made, because nobody here had a lock on it.
    pub(crate) fn may_lack(plan: &SandboxPlan) -> bool {
        plan.read_only.iter().any(|it| is_gone(it) || placeholder_kind(it).is_some())
    }

    /// Gives those that this process has made to the supervisor, which removes them once no command has needed
    /// them for a while. Others are removed by whoever has made them.
    pub(crate) fn hand_over(&mut self, keeper_of_all: &OwnedFd) {
        self.0.retain(|it| !(it.is_own && send_placeholder(it, keeper_of_all).is_ok()));
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        // Inner ones first.
        while let Some(placeholder) = self.0.pop() {
            placeholder.remove();
        }
    }
}

/// True for a place that is gone, and not only for the moment in which somebody puts another in its place: a placeholder
/// would be in the way.
fn stays_gone(path: &Path) -> bool {
    is_gone(path) && !wait_for_replacement(|| !is_gone(path))
}

fn is_gone(path: &Path) -> bool {
    matches!(rustix::fs::lstat(path), Err(Errno::NOENT))
}

/// The kind of the placeholder that is at a place, if there is one.
fn placeholder_kind(path: &Path) -> Option<PlaceKind> {
    let seen = rustix::fs::lstat(path).ok()?;
    [PlaceKind::File, PlaceKind::Directory].into_iter().find(|it| is_marked(&seen, *it))
}

/// What a place that is gone most likely was.
fn likely_kind(path: &Path) -> PlaceKind {
    if path.extension().is_some() { PlaceKind::File } else { PlaceKind::Directory }
}

fn make(place: &MissingPlace) -> io::Result<Option<Placeholder>> {
    let (Some(parent), Some(name)) = (place.path.parent(), place.path.file_name()) else {
        return Ok(None);
    };
    let Some(directory) = open_place(parent)? else { return Ok(None) };
    let mut looks = 0;
    for _ in 0..MAX_TRIES {
        let directory = directory.try_clone()?;
        match try_to_make(directory, Path::new(name), place.kind)? {
            MakeAttempt::Made(made) => return Ok(Some(made)),
            MakeAttempt::NotNeeded => return Ok(None),
            MakeAttempt::LookAgain if looks == MAX_LOOKS => return Ok(None),
            MakeAttempt::LookAgain => looks += 1,
            MakeAttempt::TryAgain => {}
        }
        thread::sleep(RETRY_INTERVAL);
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn try_to_make(directory: OwnedFd, name: &Path, kind: PlaceKind) -> io::Result<MakeAttempt> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match kind {
        PlaceKind::File => {
            let new = flags | OFlags::CREATE | OFlags::EXCL;
            openat(&directory, name, new, Mode::from_raw_mode(FILE_MODE))
        }
        PlaceKind::Directory => mkdirat(&directory, name, Mode::from_raw_mode(DIRECTORY_MODE))
            .and_then(|()| openat(&directory, name, flags | OFlags::DIRECTORY, Mode::empty())),
    };
    let is_new = file.is_ok();
    let file = match file {
        Ok(file) => file,
        Err(Errno::EXIST) => match openat(&directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(MakeAttempt::TryAgain),
            // A link, or a file that this user cannot read: nobody's placeholder.
            Err(_) => return Ok(MakeAttempt::NotNeeded),
        },
        // Where this user can make nothing, the command cannot either.
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NOENT) => {
            return Ok(MakeAttempt::NotNeeded);
        }
        Err(error) => return Err(error.into()),
    };
    let placeholder = Placeholder { directory, name: name.to_owned(), kind, file, is_own: is_new };
    if flock(&placeholder.file, FlockOperation::NonBlockingLockShared).is_err() {
        // Somebody is about to remove it.
        return Ok(MakeAttempt::TryAgain);
    }
    if is_new {
        mark(&placeholder.file)?;
        return Ok(MakeAttempt::Made(placeholder));
    }
    let seen = fstat(&placeholder.file)?;
    if is_marked(&seen, kind) {
        let is_there = placeholder.is_there();
        return Ok(if is_there { MakeAttempt::Made(placeholder) } else { MakeAttempt::TryAgain });
    }
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
    let is_fresh = (0..=MARKING_SECONDS).contains(&now.saturating_sub(seen.st_ctime));
    let may_be_marked_soon = is_fresh && is_empty(&seen, kind);
    Ok(if may_be_marked_soon { MakeAttempt::LookAgain } else { MakeAttempt::NotNeeded })
}

/// Gives a file the time by which a placeholder is known.
fn mark(file: &OwnedFd) -> io::Result<()> {
    let at = |tv_sec, tv_nsec| Timestamps {
        last_access: Timespec { tv_sec, tv_nsec },
        last_modification: Timespec { tv_sec, tv_nsec },
    };
    futimens(file, &at(PLACEHOLDER_SECONDS, PLACEHOLDER_NANOSECONDS))?;
    let (seconds, nanoseconds) = changed_at(&fstat(file)?);
    if !is_placeholder_time(seconds, nanoseconds) {
        futimens(file, &at(PLACEHOLDER_SECONDS_LATER, 0))?;
    }
    Ok(())
}

fn changed_at(seen: &Stat) -> (i64, i64) {
    (seen.st_mtime, i64::try_from(seen.st_mtime_nsec).unwrap_or(-1))
}

fn is_marked(seen: &Stat, kind: PlaceKind) -> bool {
    let (seconds, nanoseconds) = changed_at(seen);
    is_empty(seen, kind) && is_placeholder_time(seconds, nanoseconds)
}

/// True for an empty file of this kind. Whether a directory is empty shows when it is removed.
fn is_empty(seen: &Stat, kind: PlaceKind) -> bool {
    match (kind, FileType::from_raw_mode(seen.st_mode)) {
        (PlaceKind::File, FileType::RegularFile) => seen.st_size == 0,
        (PlaceKind::Directory, FileType::Directory) => true,
        _ => false,
    }
}

impl Placeholder {
    /// True when the open file is the one that has the name.
    fn is_there(&self) -> bool {
        let named = statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(named), Ok(own)) = (named, fstat(&self.file)) else { return false };
        (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)
    }

    /// Removes it, unless somebody has made something else of it. False while another command needs it; its
    /// lock is given up then as well.
    pub(crate) fn remove(&self) -> bool {
        // Trying this gives the shared lock up. It is not taken again: of two that try at the same time, one would
        // else find the other's lock, and the other this one's, and nobody would remove it.
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return false;
        }
        if fstat(&self.file).is_ok_and(|it| is_marked(&it, self.kind)) && self.is_there() {
            let flags = match self.kind {
                PlaceKind::File => AtFlags::empty(),
                PlaceKind::Directory => AtFlags::REMOVEDIR,
            };
            // A directory that is not empty stays.
            let _ = unlinkat(&self.directory, &self.name, flags);
        }
        true
    }

    /// The same, but keeps its lock where another command needs it, to try again later.
    pub(crate) fn remove_or_keep(&self) -> bool {
        let is_removed = self.remove();
        if !is_removed {
            let _ = flock(&self.file, FlockOperation::NonBlockingLockShared);
        }
        is_removed
    }
}
