//! A directory of a walk. What is in it is opened through it, never by path, so nobody can swap a
//! directory for a link and lead the walk out of the workspace, and no path is too long.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

#[cfg(target_os = "linux")]
use std::sync::OnceLock;

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

#[cfg(target_os = "linux")]
use self::kinds::{BTRFS, EXT, OVERLAY, PROC, SYSFS, TMPFS, XFS};
use super::entry::{EntryBuffer, EntryKind, read_entries};
use crate::workspace::{WorkspacePath, is_temporary_name};

/// How many directories one walk keeps open. Deeper ones are opened again when they are needed.
#[cfg(unix)]
const MAX_OPEN: usize = 64;
/// Of deeper ones, each so-manieth stays open all the same: opening one again must not take as many
/// steps as it is deep.
#[cfg(unix)]
const KEPT_EVERY: usize = 32;
/// The deepest nesting that is walked.
const MAX_DEPTH: usize = 4_096;

/// The kinds of file system, as the kernel numbers them.
#[cfg(target_os = "linux")]
mod kinds {
    pub(super) const PROC: u64 = 0x9fa0;
    pub(super) const SYSFS: u64 = 0x6265_6572;
    pub(super) const EXT: u64 = 0xef53;
    pub(super) const XFS: u64 = 0x5846_5342;
    pub(super) const BTRFS: u64 = 0x9123_683e;
    pub(super) const TMPFS: u64 = 0x0102_1994;
    pub(super) const OVERLAY: u64 = 0x794c_7630;
}

/// How an error calls files that are never opened.
#[cfg(target_os = "linux")]
const OF_THE_KERNEL: &str = "files of the kernel are not searched";

/// What it means when a file gives less than was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortReads {
    /// The file ends there. So it is where the kernel itself reads from its cache.
    EndFiles,
    /// There may be more: only reading nothing means the end.
    MeanNothing,
}

/// One directory, and how it was reached.
#[derive(Debug)]
pub struct Folder {
    parent: Option<Arc<Folder>>,
    name: OsString,
    path: Arc<Path>,
    /// The path below the start of the walk.
    below: PathBuf,
    depth: usize,
    /// Nothing where files are the kernel's.
    #[cfg(target_os = "linux")]
    short_reads: OnceLock<Option<ShortReads>>,
    #[cfg(unix)]
    handle: Option<OwnedFd>,
    open_handles: Arc<AtomicUsize>,
}

impl Folder {
    /// Opens the directory that a walk starts with.
    pub(super) fn start(place: &WorkspacePath) -> io::Result<Self> {
        let file = place.open()?;
        if !file.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        #[cfg(target_os = "linux")]
        refuse_kernel_files(file.as_fd())?;
        Ok(Self {
            parent: None,
            name: OsString::new(),
            path: place.absolute().into(),
            below: PathBuf::new(),
            depth: 0,
            #[cfg(target_os = "linux")]
            short_reads: OnceLock::new(),
            #[cfg(unix)]
            handle: Some(file.into()),
            open_handles: Arc::new(AtomicUsize::new(1)),
        })
    }

    /// Where the directory is: absolute, and without links when the walk began.
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Where it is below the start of the walk.
    pub fn below(&self) -> &Path {
        &self.below
    }

    /// How many directories below the start it is.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// What a short read of a file in this directory means. An error where no file is to be opened: the
    /// kernel's own may be anywhere, not only at `/proc`.
    pub fn short_reads(&self) -> io::Result<ShortReads> {
        #[cfg(target_os = "linux")]
        return self
            .short_reads
            .get_or_init(|| match self.with_handle(file_system) {
                Ok(EXT | XFS | BTRFS | TMPFS | OVERLAY) => Some(ShortReads::EndFiles),
                Ok(PROC | SYSFS) => None,
                Ok(_) | Err(_) => Some(ShortReads::MeanNothing),
            })
            .ok_or_else(|| io::Error::other(OF_THE_KERNEL));
        #[cfg(not(target_os = "linux"))]
        Ok(ShortReads::MeanNothing)
    }

    /// Opens a directory in this one; a link is not followed.
    pub(super) fn enter(self: &Arc<Self>, name: &OsStr) -> io::Result<Self> {
        if self.depth >= MAX_DEPTH {
            return Err(io::Error::other(format!("nested deeper than {MAX_DEPTH} directories")));
        }
        #[cfg(unix)]
        let handle = self.with_handle(|it| open_folder(it, name))?;
        #[cfg(target_os = "linux")]
        if matches!(name.as_encoded_bytes(), b"proc" | b"sys") {
            refuse_kernel_files(handle.as_fd())?;
        }
        #[cfg(not(unix))]
        if !self.path.join(name).symlink_metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.open_handles.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            parent: Some(Arc::clone(self)),
            name: name.to_owned(),
            path: self.path.join(name).into(),
            below: self.below.join(name),
            depth: self.depth + 1,
            #[cfg(target_os = "linux")]
            short_reads: OnceLock::new(),
            #[cfg(unix)]
            handle: Some(handle),
            open_handles: Arc::clone(&self.open_handles),
        })
    }

    /// Closes the descriptor when too many are open; whoever needs it opens the directory again.
    pub(super) fn rest(mut self) -> Arc<Self> {
        #[cfg(unix)]
        if self.open_handles.load(Ordering::Relaxed) > MAX_OPEN
            && !self.depth.is_multiple_of(KEPT_EVERY)
            && self.handle.take().is_some()
        {
            self.open_handles.fetch_sub(1, Ordering::Relaxed);
        }
        #[cfg(not(unix))]
        let _ = &mut self;
        Arc::new(self)
    }

    /// Hands over the entries. What a write has not finished, or never will, is none.
    pub(super) fn entries(
        &self,
        buffer: &mut EntryBuffer,
        each: &mut dyn FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let each = &mut |name: &OsStr, kind| {
            if kind == EntryKind::File && is_temporary_name(name) {
                return ControlFlow::Continue(());
            }
            each(name, kind)
        };
        #[cfg(unix)]
        return self.with_handle(|it| read_entries(it, buffer, each));
        #[cfg(not(unix))]
        read_entries(&self.path, buffer, each)
    }

    /// Opens a file in this directory. Never waits, even on a FIFO, and never follows a link.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        #[cfg(unix)]
        return self.with_handle(|it| {
            use rustix::fs::{Mode, OFlags};
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            Ok(rustix::fs::openat(it, name, flags, Mode::empty())?.into())
        });
        #[cfg(not(unix))]
        {
            let path = self.path.join(name);
            if !path.symlink_metadata()?.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            File::open(path)
        }
    }

    /// When a file in this directory was last changed.
    pub fn modified(&self, name: &OsStr) -> io::Result<SystemTime> {
        #[cfg(target_os = "linux")]
        return self.with_handle(|it| {
            let stat = rustix::fs::statat(it, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(system_time(stat.st_mtime, stat.st_mtime_nsec))
        });
        #[cfg(not(target_os = "linux"))]
        self.path.join(name).symlink_metadata()?.modified()
    }

    #[cfg(unix)]
    fn with_handle<T>(&self, work: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        match &self.handle {
            Some(handle) => work(handle.as_fd()),
            None => work(self.reopened()?.as_fd()),
        }
    }

    /// Opens the directory again, step by step from the nearest one that is still open.
    #[cfg(unix)]
    fn reopened(&self) -> io::Result<OwnedFd> {
        let mut names = vec![self.name.as_os_str()];
        let mut above = self.parent.as_deref();
        while let Some(folder) = above {
            if let Some(handle) = &folder.handle {
                let mut opened: Option<OwnedFd> = None;
                for name in names.iter().rev() {
                    let from = opened.as_ref().map_or(handle.as_fd(), AsFd::as_fd);
                    opened = Some(open_folder(from, name)?);
                }
                return opened.ok_or_else(|| io::ErrorKind::NotFound.into());
            }
            names.push(&folder.name);
            above = folder.parent.as_deref();
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        #[cfg(unix)]
        if self.handle.is_some() {
            self.open_handles.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(unix)]
fn open_folder(from: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(from, name, flags, Mode::empty())?)
}

/// Opens a file that the caller named, unless it is the kernel's. The system is asked before: to open one
/// can already do something.
pub fn open_named(place: &WorkspacePath) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        let folder = place.absolute().parent().unwrap_or(place.absolute());
        let kind = rustix::fs::statfs(folder)?.f_type;
        refuse_kind(u64::try_from(kind).unwrap_or(0))?;
    }
    let file = place.open()?;
    // A file can be mounted alone.
    #[cfg(target_os = "linux")]
    refuse_kernel_files(file.as_fd())?;
    Ok(file)
}

/// File systems of the kernel itself: their files look regular, but reading one can wait for ever or
/// do something.
#[cfg(target_os = "linux")]
fn refuse_kernel_files(folder: BorrowedFd<'_>) -> io::Result<()> {
    refuse_kind(file_system(folder)?)
}

#[cfg(target_os = "linux")]
fn refuse_kind(file_system: u64) -> io::Result<()> {
    match file_system {
        PROC | SYSFS => Err(io::Error::other(OF_THE_KERNEL)),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn file_system(folder: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstatfs(folder)?.f_type).unwrap_or(0))
}

#[cfg(target_os = "linux")]
fn system_time(seconds: i64, nanoseconds: u64) -> SystemTime {
    use std::time::Duration;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let part = Duration::from_nanos(nanoseconds);
    let at = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    at.and_then(|it| it.checked_add(part)).unwrap_or(SystemTime::UNIX_EPOCH)
}
