//! The texts of a file that are searched instead of all of it: what an index leaves of a large file.

use std::{fs::File, io};

/// The state of a file that the system reports without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentStamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Some whole lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRange {
    /// The offset of the first byte.
    pub(crate) start: u64,
    /// How many bytes it has.
    pub(crate) bytes: u64,
    /// How many lines of the file come before it.
    pub(crate) lines_before: u64,
}

/// The texts of a file that may match, in the order of the file. Each ends with a line, or with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileTexts {
    /// The file in which they are. As soon as it is another, they say nothing about it.
    pub(crate) stamp: ContentStamp,
    /// The texts.
    pub(crate) ranges: Vec<TextRange>,
}

impl ContentStamp {
    /// The stamp of an open file.
    #[cfg(unix)]
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;

        let seen = file.metadata()?;
        Ok(Self {
            device: seen.dev(),
            inode: seen.ino(),
            bytes: seen.len(),
            modified: (seen.mtime(), seen.mtime_nsec()),
            changed: (seen.ctime(), seen.ctime_nsec()),
        })
    }

    /// There is none on a system that does not tell when a file was changed.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The number of the file.
    #[cfg(target_os = "linux")]
    pub(crate) fn inode(&self) -> u64 {
        self.inode
    }

    /// When its content was changed last: seconds and nanoseconds.
    #[cfg(target_os = "linux")]
    pub(crate) fn modified(&self) -> (i64, i64) {
        self.modified
    }

    /// When anything about it was changed last.
    #[cfg(target_os = "linux")]
    pub(crate) fn changed(&self) -> (i64, i64) {
        self.changed
    }

    /// How many bytes the file has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl FileTexts {
    /// Whether an open file is still the one in which the texts are.
    pub(super) fn are_in(&self, file: &File) -> bool {
        ContentStamp::of(file).is_ok_and(|it| it == self.stamp)
    }
}
