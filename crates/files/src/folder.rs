//! A directory of a walk. Entries are opened relative to its descriptor, never by path. So replacing a
//! directory by a link cannot lead the walk out of the workspace, and no path is too long to be opened.

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
use std::{os::unix::ffi::OsStrExt as _, sync::OnceLock};

#[cfg(unix)]
use parking_lot::Mutex;
use toolwright_base::regular_file;
#[cfg(target_os = "linux")]
use toolwright_base::{
    KERNEL_FILES_REFUSED, file_system, is_kernel_file_system, refuse_kernel_files,
};

#[cfg(target_os = "linux")]
use self::kinds::{BTRFS, EXT, OVERLAY, TMPFS, XFS};
use super::entry::{EntryBuffer, EntryKind, read_entries};
use crate::{atomic::is_temporary_name, path::WorkspacePath};

/// How many directories one walk keeps open. Further ones are reopened when they are needed.
#[cfg(unix)]
const MAX_OPEN: usize = 64;
/// Every 32nd level stays open even so, and keeps its path, so that reopening a directory never takes
/// more than this many steps.
const KEPT_EVERY: usize = 32;
/// The deepest nesting that is walked.
const MAX_DEPTH: usize = 4_096;
/// The longest path of a directory that is walked, sixteen times what systems accept as a path.
const MAX_PATH_BYTES: usize = 64 * 1024;
/// Directories with a longer path do not store it, except for every 32nd level.
const MAX_KEPT_PATH_BYTES: usize = 1_024;

/// The numbers of file systems whose files are read through the kernel's page cache.
#[cfg(target_os = "linux")]
mod kinds {
    pub(super) const EXT: u64 = 0xef53;
    pub(super) const XFS: u64 = 0x5846_5342;
    pub(super) const BTRFS: u64 = 0x9123_683e;
    pub(super) const TMPFS: u64 = 0x0102_1994;
    pub(super) const OVERLAY: u64 = 0x794c_7630;
}

/// Whether the files of a file system are only changed by this machine's kernel, which knows of every change.
#[cfg(target_os = "linux")]
pub fn is_local_file_system(number: u64) -> bool {
    matches!(number, EXT | XFS | BTRFS | TMPFS | OVERLAY)
}

/// What it means if a read returns fewer bytes than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortReads {
    /// The file ends there. This is certain for file systems that use the kernel's page cache.
    EndFiles,
    /// There may be more. Only a read of no bytes means that the file ends.
    MeanNothing,
}

/// One directory of a walk, with the directories that lead to it.
#[derive(Debug)]
pub struct Folder {
    parent: Option<Arc<Folder>>,
    name: OsString,
    /// Not stored in most directories if it is long: the paths in a deep tree would take more memory than
    /// everything else.
    path: Option<Arc<Path>>,
    path_bytes: usize,
    depth: usize,
    /// `None` on file systems such as `/proc`, whose files must not be opened.
    #[cfg(target_os = "linux")]
    short_reads: OnceLock<Option<ShortReads>>,
    /// None for a directory that was closed, or that a plan knows.
    #[cfg(unix)]
    handle: Option<OwnedFd>,
    /// Whether a plan knows what is in it, so that its files are opened by their paths below the start.
    #[cfg(target_os = "linux")]
    is_planned: bool,
    /// The descriptor while a thread works in a directory that had been closed.
    #[cfg(unix)]
    opened_again: Mutex<Option<Arc<OwnedFd>>>,
    open_handles: Arc<AtomicUsize>,
}

impl Folder {
    /// Opens the directory in which a walk starts.
    pub fn start(place: &WorkspacePath) -> io::Result<Self> {
        #[cfg(unix)]
        let handle = place.open_folder()?;
        #[cfg(not(unix))]
        if !place.absolute().symlink_metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        #[cfg(target_os = "linux")]
        refuse_kernel_files(handle.as_fd())?;
        Ok(Self {
            parent: None,
            name: OsString::new(),
            path: Some(place.absolute().into()),
            path_bytes: place.absolute().as_os_str().len(),
            depth: 0,
            #[cfg(target_os = "linux")]
            short_reads: OnceLock::new(),
            #[cfg(unix)]
            handle: Some(handle),
            #[cfg(target_os = "linux")]
            is_planned: false,
            #[cfg(unix)]
            opened_again: Mutex::default(),
            open_handles: Arc::new(AtomicUsize::new(1)),
        })
    }

    /// A directory that is already open, by its absolute path.
    #[cfg(target_os = "linux")]
    pub fn already_open(path: Arc<Path>, depth: usize, handle: OwnedFd) -> Self {
        Self {
            parent: None,
            name: OsString::new(),
            path_bytes: path.as_os_str().len(),
            path: Some(path),
            depth,
            short_reads: OnceLock::new(),
            handle: Some(handle),
            is_planned: false,
            opened_again: Mutex::default(),
            open_handles: Arc::new(AtomicUsize::new(1)),
        }
    }

    /// The descriptor of a directory that is open.
    #[cfg(target_os = "linux")]
    pub fn handle(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }

    /// The absolute path of the directory, without links at the time the walk began.
    pub fn path(&self) -> Arc<Path> {
        if let Some(path) = &self.path {
            return Arc::clone(path);
        }
        let mut names = Vec::with_capacity(self.depth);
        let mut folder = self;
        while let (None, Some(parent)) = (&folder.path, &folder.parent) {
            names.push(&folder.name);
            folder = parent;
        }
        let mut path = PathBuf::with_capacity(self.path_bytes);
        path.push(folder.path.as_deref().unwrap_or(Path::new("")));
        path.extend(names.into_iter().rev());
        path.into()
    }

    /// How many levels below the start of the walk the directory is.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// What a short read of a file in this directory means. An error if the directory is on a file system
    /// such as `/proc`, whose files must not be opened; it may be mounted anywhere.
    pub fn short_reads(&self) -> io::Result<ShortReads> {
        // What a plan knows is on the same file system, or is not opened.
        #[cfg(target_os = "linux")]
        if self.is_planned
            && let Some(parent) = &self.parent
        {
            return parent.short_reads();
        }
        #[cfg(target_os = "linux")]
        return self
            .short_reads
            .get_or_init(|| match self.with_handle(file_system) {
                Ok(it) if is_local_file_system(it) => Some(ShortReads::EndFiles),
                Ok(it) if is_kernel_file_system(it) => None,
                Ok(_) | Err(_) => Some(ShortReads::MeanNothing),
            })
            .ok_or_else(|| io::Error::other(KERNEL_FILES_REFUSED));
        #[cfg(not(target_os = "linux"))]
        Ok(ShortReads::MeanNothing)
    }

    /// Opens a directory in this one, without following links.
    pub fn enter(self: &Arc<Self>, name: &OsStr) -> io::Result<Self> {
        if self.depth >= MAX_DEPTH {
            return Err(io::Error::other(format!("nested deeper than {MAX_DEPTH} directories")));
        }
        let path_bytes = self.path_bytes + 1 + name.len();
        if path_bytes > MAX_PATH_BYTES {
            return Err(io::Error::other(format!("its path has more than {MAX_PATH_BYTES} bytes")));
        }
        #[cfg(unix)]
        let handle = self.with_handle(|it| open_folder(it, name))?;
        #[cfg(target_os = "linux")]
        if matches!(name.as_encoded_bytes(), b"proc" | b"sys") {
            refuse_kernel_files(handle.as_fd())?;
        }
        #[cfg(not(unix))]
        if !self.path().join(name).symlink_metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.open_handles.fetch_add(1, Ordering::Relaxed);
        let mut entered = self.closed(name);
        #[cfg(unix)]
        {
            entered.handle = Some(handle);
        }
        Ok(entered)
    }

    /// A directory in this one of which a plan knows what is in it. It is not opened before that is needed.
    pub fn enter_planned(self: &Arc<Self>, name: &OsStr) -> io::Result<Self> {
        // Only where the system opens a file by its path without following links on the way.
        #[cfg(target_os = "linux")]
        if self.path_bytes + 1 + name.len() <= MAX_KEPT_PATH_BYTES {
            let mut entered = self.closed(name);
            entered.is_planned = true;
            return Ok(entered);
        }
        self.enter(name)
    }

    /// A directory in this one that is not open.
    fn closed(self: &Arc<Self>, name: &OsStr) -> Self {
        let path_bytes = self.path_bytes + 1 + name.len();
        let depth = self.depth + 1;
        let keeps_path = path_bytes <= MAX_KEPT_PATH_BYTES || depth.is_multiple_of(KEPT_EVERY);
        Self {
            parent: Some(Arc::clone(self)),
            name: name.to_owned(),
            path: keeps_path.then(|| self.path().join(name).into()),
            path_bytes,
            depth,
            #[cfg(target_os = "linux")]
            short_reads: OnceLock::new(),
            #[cfg(unix)]
            handle: None,
            #[cfg(target_os = "linux")]
            is_planned: false,
            #[cfg(unix)]
            opened_again: Mutex::default(),
            open_handles: Arc::clone(&self.open_handles),
        }
    }

    /// Closes the descriptor if too many are open. The directory is reopened when it is needed.
    pub fn rest(mut self) -> Arc<Self> {
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

    /// Calls `each` for the entries. Temporary files of unfinished writes are left out.
    pub fn entries(
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
        read_entries(&self.path(), buffer, each)
    }

    /// Opens a file of this directory, without following links.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        if self.is_planned
            && let Some(opened) = self.open_by_path(name)
        {
            return opened;
        }
        #[cfg(unix)]
        return self.with_handle(|it| regular_file::open_listed(it, name));
        #[cfg(not(unix))]
        regular_file::open_named(&self.path().join(name))
    }

    /// Opens a file by its path below the nearest directory that is open, in one step. `None` if that cannot be done
    /// here, or something on the way is no directory of the same file system any more.
    #[cfg(target_os = "linux")]
    fn open_by_path(&self, name: &OsStr) -> Option<io::Result<File>> {
        let mut above = self.parent.as_deref();
        while let Some(folder) = above
            && folder.handle.is_none()
        {
            above = folder.parent.as_deref();
        }
        let open = above?;
        // The path of a directory above is how this one's begins, which need not be compared.
        let path = self.path.as_deref()?.as_os_str().as_encoded_bytes();
        let below = path.get(open.path_bytes..)?;
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let place = [below, name.as_encoded_bytes()].join(&b'/');
        regular_file::open_below(open.handle()?, Path::new(OsStr::from_bytes(&place)))
    }

    /// Opens a settings file by its path relative to this directory. Links are followed.
    pub fn open_settings(&self, path: &Path) -> io::Result<File> {
        #[cfg(unix)]
        return self.with_handle(|it| regular_file::open_at(it, path));
        #[cfg(not(unix))]
        regular_file::open(&self.path().join(path))
    }

    /// The modification time of a file in this directory.
    pub fn modified(&self, name: &OsStr) -> io::Result<SystemTime> {
        #[cfg(target_os = "linux")]
        return self.with_handle(|it| {
            let stat = rustix::fs::statat(it, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(system_time(stat.st_mtime, stat.st_mtime_nsec))
        });
        #[cfg(not(target_os = "linux"))]
        self.path().join(name).symlink_metadata()?.modified()
    }

    #[cfg(unix)]
    fn with_handle<T>(&self, work: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        match &self.handle {
            Some(handle) => work(handle.as_fd()),
            None => work(self.opened_again()?.as_fd()),
        }
    }

    /// Reopens a directory that was closed, for as long as a thread works in it.
    #[cfg(unix)]
    fn opened_again(&self) -> io::Result<Arc<OwnedFd>> {
        let mut opened = self.opened_again.lock();
        if let Some(handle) = &*opened {
            return Ok(Arc::clone(handle));
        }
        let handle = Arc::new(self.reopened()?);
        *opened = Some(Arc::clone(&handle));
        Ok(handle)
    }

    /// Called when a thread has finished its work in this directory. Closes it if it was reopened.
    pub fn let_go(&self) {
        #[cfg(unix)]
        self.opened_again.lock().take();
    }

    /// Opens the directory again, step by step from the nearest ancestor that is still open.
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
        // A loop instead of recursion, because a tree may have any number of levels.
        let mut above = self.parent.take();
        while let Some(mut last) = above.and_then(Arc::into_inner) {
            above = last.parent.take();
        }
    }
}

#[cfg(unix)]
fn open_folder(from: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(from, name, flags, Mode::empty())?)
}

/// Opens a file that the caller named, unless it is on a file system such as `/proc`. This is checked
/// before, because merely opening such a file can have an effect.
pub fn open_named(place: &WorkspacePath) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        let folder = place.absolute().parent().unwrap_or(place.absolute());
        let kind = rustix::fs::statfs(folder)?.f_type;
        if is_kernel_file_system(u64::try_from(kind).unwrap_or(0)) {
            return Err(io::Error::other(KERNEL_FILES_REFUSED));
        }
    }
    let file = place.open()?;
    // A single file can be a mount point, too.
    #[cfg(target_os = "linux")]
    refuse_kernel_files(file.as_fd())?;
    Ok(file)
}

/// The time of a stamp.
#[cfg(target_os = "linux")]
pub fn system_time(seconds: i64, nanoseconds: u64) -> SystemTime {
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

/// Calls `each` for the first entries of a directory, in the order of the system.
pub(crate) fn look_at_names(
    place: &WorkspacePath,
    most: usize,
    each: &mut dyn FnMut(&OsStr, EntryKind),
) -> io::Result<()> {
    let mut left = most;
    Folder::start(place)?.entries(&mut EntryBuffer::default(), &mut |name, kind| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        each(name, kind);
        ControlFlow::Continue(())
    })
}
