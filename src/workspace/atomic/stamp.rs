//! Tells whether a file is still the one that was read.
//!
//! The content decides, not the clock. Equal times only spare the second read, and only when they
//! are old enough that a write in the same tick of the file system's clock is out of the question.

use std::{
    fs::File,
    io,
    time::{Duration, SystemTime},
};

/// The coarsest clock of a file system in use is FAT's, with two seconds.
const CLOCK_TICK: Duration = Duration::from_secs(2);

/// A file at one moment: which one it was, and what it contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(super) identity: Identity,
    hash: blake3::Hash,
    taken: SystemTime,
}

/// What the system says about a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) kind: Kind,
    // Wide enough for the types of every system.
    device: i128,
    inode: i128,
    length: i128,
    modified: (i128, i128),
    changed: (i128, i128),
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    #[cfg(unix)]
    Fifo,
    #[cfg(unix)]
    Socket,
    Device,
}

/// The beginning of a file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    identity: Identity,
    length: u64,
    hash: blake3::Hash,
}

/// What a file is to somebody who once saw its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glimpsed {
    /// The same file, which nobody has touched since.
    Untouched,
    /// It begins as it did; of the rest nothing is known.
    SameBeginning,
    /// It begins differently.
    Otherwise,
}

impl Glimpse {
    /// The first `length` bytes of an open file, which have this hash.
    pub fn of(file: &File, length: u64, hash: blake3::Hash) -> io::Result<Self> {
        Ok(Self { identity: Identity::of_file(file)?, length, hash })
    }

    /// Compares with what a file holds now.
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

impl Kind {
    /// The words for what is no file.
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

    /// How many bytes the content has.
    #[cfg(unix)]
    pub(super) fn length(&self) -> u64 {
        self.identity.length()
    }

    /// The hash of the content, for whoever keeps a record of what was read.
    pub fn content_hash(&self) -> blake3::Hash {
        self.hash
    }

    /// Whether a file that looks like `now` must have the content of this stamp, without reading it.
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
    /// The size.
    pub(super) fn length(&self) -> u64 {
        u64::try_from(self.length).unwrap_or(0)
    }

    /// Room for the content.
    pub(super) fn capacity(&self) -> usize {
        // The length is a claim: sparse files and `/proc` say anything.
        usize::try_from(self.length).unwrap_or(0).min(64 << 20)
    }

    /// The same file with so many bytes: never surely one that has more.
    #[cfg(unix)]
    pub(super) fn with_length(self, length: usize) -> Self {
        Self { length: i128::try_from(length).unwrap_or(-1), ..self }
    }

    /// Whether a file looks as if nobody had written to it in between, whatever became of its names.
    #[cfg(unix)]
    pub(super) fn has_same_content_times(&self, other: &Self) -> bool {
        (self.length, self.modified) == (other.length, other.modified)
    }

    /// Whether both are the same file, whatever it contains.
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
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            _ => Kind::Device,
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
            Kind::File
        } else if metadata.is_dir() {
            Kind::Directory
        } else if metadata.is_symlink() {
            Kind::Link
        } else {
            Kind::Device
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
    fn equal_times_prove_nothing_until_the_clock_has_moved_on() {
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
