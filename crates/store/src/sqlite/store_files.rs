//! The files of a store: their paths, their state, and the lock for creating or moving them.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use toolwright_base::path_to_text;

use crate::StoreError;

/// The suffixes of the files that SQLite creates beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The delay between two tries to take the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The file of a store, and the files beside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoreFiles {
    main: PathBuf,
}

/// What exists at the path of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreFilesFound {
    /// Nothing at all.
    Nothing,
    /// A log or journal whose database is missing.
    WithoutMain,
    /// An empty file. A store gets its name only when it is complete, so something has emptied it since.
    Emptied,
    /// A database file of this many bytes.
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

    /// The files of a store at a path that contains no links.
    pub(super) fn given(main: PathBuf) -> Self {
        Self { main }
    }

    /// The database itself.
    pub(super) fn main(&self) -> &Path {
        &self.main
    }

    /// The write-ahead log, which SQLite writes changes to first.
    pub(super) fn log(&self) -> PathBuf {
        self.named("-wal")
    }

    /// The file in which a new store is created before it gets its final name.
    pub(super) fn draft(&self) -> Self {
        Self { main: self.named(".new") }
    }

    /// Every file of the store, with its suffix.
    pub(super) fn all(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        [""].into_iter().chain(BESIDE).map(|it| (self.named(it), it))
    }

    /// The path of the database with a suffix.
    pub(super) fn named(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(&self.main);
        name.push(ending);
        name.into()
    }

    /// Looks at what exists there.
    pub(super) fn look(&self) -> Result<StoreFilesFound, StoreError> {
        let has_content =
            |ending: &&str| self.named(ending).metadata().is_ok_and(|it| it.len() > 0);
        match fs::metadata(&self.main) {
            // The index of the log (`-shm`) is not checked: it has no data that the log lacks.
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

    /// Takes the lock for creating or moving the store's files, which one process holds at a time.
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
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers pass it errors from map_err and plain text"
    )]
    pub(super) fn unavailable(&self, cause: impl ToString) -> StoreError {
        let cause = cause.to_string();
        StoreError::Unavailable(format!("`{}`: {cause}", path_to_text(&self.main)))
    }
}

/// Identifies a file, so that another file with the same name can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileNumber(u64, u64);

impl FileNumber {
    /// The identity of the file at a path, if there is one.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of_metadata)
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    /// On other systems an open file can be neither moved nor deleted.
    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Self {
        Self(0, 0)
    }
}
