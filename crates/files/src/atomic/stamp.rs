//! Stamps, which show whether a file still has the content that was read.
//!
//! The content decides, not the modification time. Equal times only save reading the file again, and
//! only if they are old enough to exclude a write within the same tick of the file system's clock.

use std::{
    fs::File,
    io,
    time::{Duration, SystemTime},
};

/// The coarsest clock of any common file system: that of FAT has a resolution of two seconds.
const CLOCK_TICK: Duration = Duration::from_secs(2);

/// A file at one moment: its identity and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(super) identity: Identity,
    hash: blake3::Hash,
    taken: SystemTime,
}

/// What the system knows about a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) kind: FileKind,
    // Large enough for the types of every system.
    device: i128,
    inode: i128,
    length: i128,
    modified: (i128, i128),
    changed: (i128, i128),
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Directory,
    Link,
    #[cfg(unix)]
    Fifo,
    #[cfg(unix)]
    Socket,
    Device,
}

/// The identity of a file at one moment, and the hash of its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    identity: Identity,
    length: u64,
    hash: blake3::Hash,
}

/// How a file compares with a glimpse of its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glimpsed {
    /// It is the same file, and has not been changed since.
    Untouched,
    /// It has the same beginning. The rest may have changed.
    SameBeginning,
    /// It has another beginning.
    Otherwise,
}

impl Glimpse {
    /// A glimpse of the first `length` bytes of an open file, which have this hash.
    pub fn of(file: &File, length: u64, hash: blake3::Hash) -> io::Result<Self> {
        Ok(Self { identity: Identity::of_file(file)?, length, hash })
    }

    /// Compares with the current content of a file.
    pub fn compare(&self, bytes: &[u8], now: &Stamp) -> Glimpsed {
        let beginning = usize::try_from(self.length).ok().and_then(|it| bytes.get(..it));
        match beginning {
            Some(beginning) if blake3::hash(beginning) == self.hash => {
                if now.identity == self.identity {
                    Glimpsed::Untouched
                } else {
                    Glimpsed::SameBeginning
                }
            }
            Some(_) | None => Glimpsed::Otherwise,
        }
    }
}

impl FileKind {
    /// The name of this kind for an error, with an article. `None` for a file.
    pub(super) fn not_a_file(self) -> Option<&'static str> {
        match self {
            Self::File => None,
            Self::Directory => Some("a directory"),
            Self::Link => Some("a symbolic link"),
            #[cfg(unix)]
            Self::Fifo => Some("a FIFO"),
            #[cfg(unix)]
            Self::Socket => Some("a socket"),
            Self::Device => Some("a device"),
        }
    }
}

impl Stamp {
    pub(super) fn new(identity: Identity, hash: blake3::Hash) -> Self {
        Self { identity, hash, taken: SystemTime::now() }
    }

    /// The length of the content in bytes.
    #[cfg(unix)]
    pub(super) fn length(&self) -> u64 {
        self.identity.length()
    }

    /// The hash of the content, for the record of what was read.
    pub fn content_hash(&self) -> blake3::Hash {
        self.hash
    }

    /// Whether a file with the identity `now` certainly has the content of this stamp. It is not read.
    pub(super) fn is_surely(&self, now: &Identity) -> bool {
        let Ok(seconds) = u64::try_from(self.identity.changed.0) else { return false };
        let settled = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_secs(seconds))
            .and_then(|changed| self.taken.duration_since(changed).ok())
            .is_some_and(|age| age > CLOCK_TICK);
        settled && self.identity == *now
    }
}

impl Identity {
    /// The size of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        u64::try_from(self.length).unwrap_or(0)
    }

    /// The capacity to reserve for the content.
    pub(super) fn capacity(&self) -> usize {
        // The length may be wrong, as for files in `/proc`, or huge, as for sparse files.
        usize::try_from(self.length).unwrap_or(0).min(64 << 20)
    }

    /// The identity with another length, which never equals that of a longer file.
    #[cfg(unix)]
    pub(super) fn with_length(self, length: usize) -> Self {
        Self { length: i128::try_from(length).unwrap_or(-1), ..self }
    }

    /// Whether the file was not written in between, judged by its length and time. It may have been
    /// renamed.
    #[cfg(unix)]
    pub(super) fn has_same_content_times(&self, other: &Self) -> bool {
        (self.length, self.modified) == (other.length, other.modified)
    }

    /// Whether both are the same file, whatever its content is.
    #[cfg(unix)]
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    #[cfg(unix)]
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of_stat(&rustix::fs::fstat(file)?))
    }

    #[cfg(unix)]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        use rustix::fs::FileType;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            FileType::Fifo => FileKind::Fifo,
            FileType::Socket => FileKind::Socket,
            _ => FileKind::Device,
        };
        Self {
            kind,
            device: i128::from(stat.st_dev),
            inode: i128::from(stat.st_ino),
            length: i128::from(stat.st_size),
            modified: (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: (i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        file.metadata().map(|it| Self::of_metadata(&it))
    }

    #[cfg(not(unix))]
    pub(super) fn of_metadata(metadata: &std::fs::Metadata) -> Self {
        let kind = if metadata.is_file() {
            FileKind::File
        } else if metadata.is_dir() {
            FileKind::Directory
        } else if metadata.is_symlink() {
            FileKind::Link
        } else {
            FileKind::Device
        };
        let time = |time: io::Result<SystemTime>| {
            let since = time.ok().and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
            since.map_or((-1, 0), |it| (i128::from(it.as_secs()), i128::from(it.subsec_nanos())))
        };
        let modified = time(metadata.modified());
        Self {
            kind,
            device: 0,
            inode: time(metadata.created()).1,
            length: i128::from(metadata.len()),
            modified,
            changed: modified,
        }
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn equal_times_prove_nothing_within_a_clock_tick() {
        let file = tempfile::tempfile().unwrap();
        let identity = Identity::of_file(&file).unwrap();
        let fresh = Stamp::new(identity.clone(), blake3::hash(b""));
        assert!(!fresh.is_surely(&identity));
        let settled = Stamp { taken: SystemTime::now() + 3 * CLOCK_TICK, ..fresh };
        assert!(settled.is_surely(&identity));
        let longer = Identity { length: 1, ..identity };
        assert!(!settled.is_surely(&longer));
    }
}
