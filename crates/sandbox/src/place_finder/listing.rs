//! The listing of one directory, and the check whether it is out of date.

use std::{
    ffi::{OsStr, OsString},
    fs::Metadata,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{DirEntryExt as _, MetadataExt as _},
    },
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;

use super::{LinkedFile, PlaceMark};

/// A directory that changed less than this before it was listed may change again within the same
/// clock tick.
const RACY: Duration = Duration::from_millis(20);

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceEntry {
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Anything else.
    File,
}

/// A marked entry.
#[derive(Debug)]
pub(super) struct MarkedName {
    pub(super) name: OsString,
    pub(super) kind: PlaceEntry,
    pub(super) mark: PlaceMark,
}

/// The entries that a policy marks, kept for reuse.
#[derive(Debug)]
struct MarkedNames {
    policy: u64,
    names: Arc<[MarkedName]>,
}

/// The listing of a directory.
#[derive(Debug)]
pub(super) struct KnownDirectory {
    stamp: DirectoryStamp,
    /// Whether it may have changed during the listing.
    is_racy: bool,
    /// The names, each followed by a NUL, in one block, because a tree has many.
    names: Box<[u8]>,
    kinds: Box<[PlaceEntry]>,
    inodes: Box<[u64]>,
    subdirectories: Box<[OsString]>,
    marked: Mutex<Option<MarkedNames>>,
}

/// Metadata that changes when the entries of a directory change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DirectoryStamp {
    device: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl DirectoryStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the directory changed just now.
    fn is_fresh(&self) -> bool {
        let (seconds, nanoseconds) = self.changed.max(self.modified);
        let changed = Duration::new(
            u64::try_from(seconds).unwrap_or_default(),
            u32::try_from(nanoseconds).unwrap_or_default(),
        );
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now < changed + RACY
    }
}

impl KnownDirectory {
    /// Lists a directory. `None` if the system refuses.
    pub(super) fn list(path: &Path) -> Option<Self> {
        // Taken before the entries, so that a change during the listing is seen the next time.
        let stamp = DirectoryStamp::of(&path.symlink_metadata().ok()?);
        let is_racy = stamp.is_fresh();
        let (mut names, mut kinds, mut inodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut subdirectories = Vec::new();
        for entry in std::fs::read_dir(path).ok()? {
            let Ok(entry) = entry else { continue };
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => PlaceEntry::Directory,
                Ok(kind) if kind.is_symlink() => PlaceEntry::Link,
                Ok(_) | Err(_) => PlaceEntry::File,
            };
            let name = entry.file_name();
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            if kind == PlaceEntry::Directory {
                subdirectories.push(name);
            }
            kinds.push(kind);
            inodes.push(entry.ino());
        }
        Some(Self {
            stamp,
            is_racy,
            names: names.into(),
            kinds: kinds.into(),
            inodes: inodes.into(),
            subdirectories: subdirectories.into(),
            marked: Mutex::default(),
        })
    }

    /// Whether nothing was added or removed since.
    pub(super) fn is_still(&self, metadata: &Metadata) -> bool {
        !self.is_racy && self.stamp == DirectoryStamp::of(metadata)
    }

    pub(super) fn entries(&self) -> usize {
        self.kinds.len()
    }

    /// Every entry, with its inode number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, PlaceEntry, u64)> {
        let names = self.names.split(|it| *it == 0).map(OsStr::from_bytes);
        names.zip(&self.kinds).zip(&self.inodes).map(|((name, kind), inode)| (name, *kind, *inode))
    }

    pub(super) fn subdirectories(&self) -> impl Iterator<Item = &OsStr> {
        self.subdirectories.iter().map(OsString::as_os_str)
    }

    /// The device that it is on.
    pub(super) const fn device(&self) -> u64 {
        self.stamp.device
    }

    /// The entries that a policy marks. `mark_of` is called once for each entry and policy.
    pub(super) fn marked(
        &self,
        policy: u64,
        mark_of: impl Fn(&OsStr) -> PlaceMark,
    ) -> Arc<[MarkedName]> {
        let kept = || self.marked.lock();
        if let Some(known) = kept().as_ref().filter(|it| it.policy == policy) {
            return Arc::clone(&known.names);
        }
        let names: Arc<[MarkedName]> = self
            .iter()
            .map(|(name, kind, _)| (name, kind, mark_of(name)))
            .filter(|it| !it.2.is_none())
            .map(|(name, kind, mark)| MarkedName {
                name: OsString::from_vec(name.as_bytes().to_vec()),
                kind,
                mark,
            })
            .collect();
        *kept() = Some(MarkedNames { policy, names: Arc::clone(&names) });
        names
    }

    /// The files in it that have several names. Checked each time, because a directory does not
    /// change when a file in it gets another name elsewhere.
    pub(super) fn linked(&self, path: &Path) -> impl Iterator<Item = LinkedFile> {
        let files = self.iter().filter(|it| it.1 == PlaceEntry::File);
        files.filter_map(|(name, ..)| LinkedFile::at(&path.join(name)))
    }
}
