//! Placeholders: empty files and directories at the paths that a command must not create. The
//! keeper makes them before the command starts and removes them afterwards. Keepers that need the
//! same placeholder share it: each has a shared lock on it, and the last one removes it. When
//! commands run in quick succession, the supervisor keeps it.

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
use toolwright_command_protocol::{
    MissingPlace, PLACEHOLDER_NANOSECONDS, PLACEHOLDER_SECONDS, PLACEHOLDER_SECONDS_LATER,
    PlaceKind, SandboxPlan, is_placeholder_time,
};

use super::{
    SandboxError,
    kept_placeholders::send_placeholder,
    mount_calls::{open_place, wait_for_replacement},
};

/// How often to try to make a placeholder while other keepers remove it.
const MAX_TRIES: usize = 200;
/// How often to look again at a new, empty file, because its maker may mark it soon. On a busy
/// machine the maker may not run for tens of milliseconds in between. A keeper that gives up too
/// early takes the file for a real one, does not lock it, and sees it vanish.
const MAX_LOOKS: usize = 150;
/// The pause between two tries.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// The highest age in seconds of a placeholder that is not marked yet.
const MARKING_SECONDS: i64 = 2;

/// Ordinary permissions: the mount keeps the command away, and other programs need not be
/// restricted.
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
    /// Holds the lock. Stays open while the placeholder is needed.
    pub(crate) file: OwnedFd,
    /// True when this process has made it.
    pub(crate) is_own: bool,
}

/// The result of one attempt.
enum MakeAttempt {
    Made(Placeholder),
    /// A real file is there, or nothing can be made there.
    NotNeeded,
    /// An empty file is there that may become a placeholder in a moment.
    LookAgain,
    TryAgain,
}

impl Placeholders {
    /// Makes the placeholders of a plan. A read-only path that no longer exists also gets one, so
    /// that the command cannot create it. A read-only path may be a placeholder that was still
    /// unmarked when the plan was made. It is locked here too, or another keeper would remove it
    /// while it is mounted.
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
                SandboxError::refused(&format!("`{path}` cannot be protected from creation"), cause)
            })?;
            all.0.extend(made);
        }
        Ok(all)
    }

    /// True if a read-only path of the plan does not exist or is a placeholder. It may have been
    /// removed after these placeholders were made, because this process had no lock on it.
    pub(crate) fn may_lack(plan: &SandboxPlan) -> bool {
        plan.read_only.iter().any(|it| is_gone(it) || placeholder_kind(it).is_some())
    }

    /// Hands the placeholders that this process made to the supervisor, which removes them once no
    /// command has needed them for a while. The others are removed by the processes that made them.
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

/// True if a path does not exist, and not only for the moment in which another program replaces the
/// file. A placeholder would get in the way of that program.
fn stays_gone(path: &Path) -> bool {
    is_gone(path) && !wait_for_replacement(|| !is_gone(path))
}

fn is_gone(path: &Path) -> bool {
    matches!(rustix::fs::lstat(path), Err(Errno::NOENT))
}

/// The kind of the placeholder at a path, if there is one.
fn placeholder_kind(path: &Path) -> Option<PlaceKind> {
    let seen = rustix::fs::lstat(path).ok()?;
    [PlaceKind::File, PlaceKind::Directory].into_iter().find(|it| is_marked(&seen, *it))
}

/// What a path that no longer exists most likely was.
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
            // A symbolic link, or a file that this user cannot read: not a placeholder.
            Err(_) => return Ok(MakeAttempt::NotNeeded),
        },
        // If this user can create nothing here, the command cannot either.
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NOENT) => {
            return Ok(MakeAttempt::NotNeeded);
        }
        Err(error) => return Err(error.into()),
    };
    let placeholder = Placeholder { directory, name: name.to_owned(), kind, file, is_own: is_new };
    if flock(&placeholder.file, FlockOperation::NonBlockingLockShared).is_err() {
        // Another process is about to remove it.
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

/// Gives a file the modification time that marks a placeholder.
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

/// True for an empty file of this kind. A directory counts as empty: removing it fails if it is
/// not.
fn is_empty(seen: &Stat, kind: PlaceKind) -> bool {
    match (kind, FileType::from_raw_mode(seen.st_mode)) {
        (PlaceKind::File, FileType::RegularFile) => seen.st_size == 0,
        (PlaceKind::Directory, FileType::Directory) => true,
        _ => false,
    }
}

impl Placeholder {
    /// True if the name still refers to the open file.
    fn is_there(&self) -> bool {
        let named = statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(named), Ok(own)) = (named, fstat(&self.file)) else { return false };
        (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)
    }

    /// Removes the placeholder, unless it was changed into a real file. Returns false while another
    /// command needs it. In that case the lock is released too.
    pub(crate) fn remove(&self) -> bool {
        // This attempt releases the shared lock, and it is not taken again. Otherwise two processes
        // that try at the same time would each see the other's lock, and neither would remove the
        // file.
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

    /// Like [`Self::remove`], but keeps the lock while another command needs the placeholder, to
    /// try again later.
    pub(crate) fn remove_or_keep(&self) -> bool {
        let is_removed = self.remove();
        if !is_removed {
            let _ = flock(&self.file, FlockOperation::NonBlockingLockShared);
        }
        is_removed
    }
}
