//! The files of a store: where they are, what is there, and the lock for those who create or move them.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::{path_text::path_to_text, store::StoreError};

/// What SQLite adds to the name of a database for the files beside it.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// How long to wait before the lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The file of a store, and those beside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoreFiles {
    main: PathBuf,
}

/// What is at the place of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreFilesFound {
    /// Nothing at all.
    Nothing,
    /// Files beside a database that is not there.
    WithoutMain,
    /// A file of no bytes. It never was a complete store, because stores are complete when they get their
    /// name. So somebody has emptied it.
    Emptied,
    /// A file of so many bytes.
    Main(u64),
}

impl StoreFiles {
    /// The files of the store at a path. Links are followed, as SQLite does.
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
        let main = if is_link {
            fs::canonicalize(path).map_err(|cause| {
                let shown = path_to_text(path);
                StoreError::Unavailable(format!("the link `{shown}` leads nowhere: {cause}"))
            })?
        } else {
            let folder = path.parent().and_then(|it| fs::canonicalize(it).ok());
            match (folder, path.file_name()) {
                (Some(folder), Some(name)) => folder.join(name),
                _ => path.to_owned(),
            }
        };
        Ok(Self { main })
    }

    /// The files of a store at a path that leads over no link.
    pub(super) fn given(main: PathBuf) -> Self {
        Self { main }
    }

    /// The database itself.
    pub(super) fn main(&self) -> &Path {
        &self.main
    }

    /// The log in which SQLite writes changes first.
    pub(super) fn log(&self) -> PathBuf {
        self.named("-wal")
    }

    /// The file in which a new store is made before it gets its name.
    pub(super) fn draft(&self) -> Self {
        Self { main: self.named(".new") }
    }

    /// Every file of the store, and what its name adds to the database's.
    pub(super) fn all(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        [""].into_iter().chain(BESIDE).map(|it| (self.named(it), it))
    }

    /// The same place under a name with an ending.
    pub(super) fn named(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(&self.main);
        name.push(ending);
        name.into()
    }

    /// What is there.
    pub(super) fn look(&self) -> Result<StoreFilesFound, StoreError> {
        let has_content =
            |ending: &&str| self.named(ending).metadata().is_ok_and(|it| it.len() > 0);
        match fs::metadata(&self.main) {
            // The index of a log (`-shm`) has nothing that the log does not have.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                Ok(if ["-wal", "-journal"].iter().any(has_content) {
                    StoreFilesFound::WithoutMain
                } else {
                    StoreFilesFound::Nothing
                })
            }
            Err(cause) => Err(self.unavailable(cause)),
            Ok(it) if !it.is_file() => Err(self.unavailable("it is not a file")),
            Ok(it) if it.len() == 0 => Ok(StoreFilesFound::Emptied),
            Ok(it) => Ok(StoreFilesFound::Main(it.len())),
        }
    }

    /// Waits for the right to create or move the store's files, which one process has at a time.
    pub(super) fn lock(&self, until: Instant) -> Result<File, StoreError> {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
        }
        let file = options.open(self.named(".lock")).map_err(|cause| self.unavailable(cause))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(self.unavailable("another process is about to create or move it"));
                }
                Err(TryLockError::Error(cause)) => return Err(self.unavailable(cause)),
            }
        }
    }

    /// The error that the store cannot be used now.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err, and for texts")]
    pub(super) fn unavailable(&self, cause: impl ToString) -> StoreError {
        let cause = cause.to_string();
        StoreError::Unavailable(format!("`{}`: {cause}", path_to_text(&self.main)))
    }
}

/// Tells a file from another that takes its name later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileNumber(u64, u64);

impl FileNumber {
    /// The number of the file at a path, if there is one.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of_metadata)
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    /// Elsewhere a file that is open can be neither moved nor deleted.
    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Self {
        Self(0, 0)
    }
}
