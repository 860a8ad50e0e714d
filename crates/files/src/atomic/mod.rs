//! Replaces the content of a file atomically: a crash at any instant leaves the old or the new bytes.
//!
//! The new bytes are written to a temporary file next to the target. It gets the metadata of the
//! target, is synced to disk and renamed onto the target. Every step uses the descriptor of the
//! target's directory, which was opened from the root without following links. This module does not
//! know what the bytes mean or who may write them. `file_lock` makes the editors of one file take
//! turns.
//!
//! Two kinds of files cannot be replaced and are written in place: files with several hard links,
//! whose other names would keep the old content, and files that a rename cannot replace. After an
//! error the old bytes are restored, but a crash in the middle can leave a mixture.
//! [`Written::in_place`] reports this.

#[cfg(unix)]
mod content_change;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod exchange;
#[cfg(unix)]
mod in_place;
#[cfg(unix)]
mod metadata;
#[cfg(not(unix))]
mod portable_write;
mod stamp;
#[cfg(unix)]
mod temporary;
mod temporary_name;
#[cfg(unix)]
mod unix_write;
#[cfg(unix)]
mod writers;

#[cfg(all(test, unix))]
mod crash_tests;
#[cfg(all(test, unix))]
mod tests;

use std::{
    io::{self, Read as _},
    path::Path,
};

use toolwright_base::path_to_text;

use super::path::WorkspacePath;

pub use stamp::{Glimpse, Glimpsed, Stamp};
pub use temporary_name::is_temporary_name;

/// What must be at the path for a write to continue.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// A file with any content, or nothing.
    Anything,
    /// Nothing. The file is created. If another program creates it first, the write fails.
    Absent,
    /// The file with the content it had when it was read for the edit.
    Unchanged(&'a Stamp),
}

/// A file that was read to be edited.
#[derive(Debug)]
pub struct ForEdit {
    /// The whole content of the file.
    pub bytes: Vec<u8>,
    /// The stamp that tells whether the file still has this content.
    pub stamp: Stamp,
}

/// The result of a write.
#[derive(Debug)]
pub struct Written {
    /// Whether the file was created.
    pub created: bool,
    /// Why the file was written in place, if it was. A crash could have left a mixture then.
    pub in_place: Option<InPlace>,
    /// Metadata of the old file that the new file could not get.
    pub not_kept: Vec<NotKept>,
    /// Whether the directory was synced to disk as well. The content is always synced.
    #[cfg_attr(not(all(test, unix)), expect(dead_code, reason = "only tests ask for it"))]
    pub(crate) durable: bool,
    /// What other programs did to the file during the write.
    pub foreign: ConcurrentChanges,
    /// The stamp of the file as it is now.
    pub stamp: Stamp,
}

/// What other programs did to a file during a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConcurrentChanges {
    /// How many bytes they appended. These bytes come after the new content.
    pub appended: u64,
    /// Whether a program still has the old file open. What it writes there will be lost.
    pub has_replaced_open: bool,
    /// Whether a program has changed the old file in another way than by appending.
    pub wrote_to_replaced: bool,
}

/// Why a file was written in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// The file has other names, which would keep the old content after a rename.
    HardLinked,
    /// The file is a mount point or on another device, so that nothing can be renamed onto it.
    NotRenamable,
}

/// Metadata that a new file could not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// The owner of the file. It belongs to the current user now.
    Owner,
    /// The group of the file. The rights of the new group were reduced to those of everyone.
    Group,
    /// The mode, on a file system that does not support every mode.
    Mode,
    /// The set-user-ID and set-group-ID bits and capabilities, which any write removes.
    Privileges,
    /// An extended attribute or access control list, by name.
    Attribute(String),
}

/// Why a file was not written. It still has its old bytes.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file has changed since it was read for the edit.
    #[error("`{0}` changed while it was being edited; read it again and repeat the edit")]
    Changed(String),
    /// The file was to be created but exists.
    #[error("`{0}` already exists")]
    Exists(String),
    /// The file does not exist.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// The path is not a file.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The path that was to be written.
        path: String,
        /// What it is instead, with an article.
        kind: &'static str,
    },
    /// A part of the path is not a directory, or has become a link since the path was checked.
    #[error("`{path}` cannot be reached: `{part}` is {kind}, not a directory")]
    NotADirectory {
        /// The path that was to be written.
        path: String,
        /// The part of the path.
        part: String,
        /// What it is instead, with an article.
        kind: &'static str,
    },
    /// The file is too large to be edited.
    #[error(
        "`{path}` has {bytes} bytes; files of at most {limit} bytes can be changed; change it with a command, such as `sed -i`, or remove it and write it again"
    )]
    TooLarge {
        /// The path that was to be written.
        path: String,
        /// The size of the file.
        bytes: u64,
        /// The size of the largest file that can be edited.
        limit: u64,
    },
    /// Permission to write the file or its directory is denied.
    #[error("`{0}` may not be written: {1}")]
    Denied(String, #[source] io::Error),
    /// The disk is full, or a quota or the limit on file sizes is reached.
    #[error("no space to write `{0}`: {1}")]
    Full(String, #[source] io::Error),
    /// Another error of the system.
    #[error("`{0}` cannot be written: {1}")]
    Failed(String, #[source] io::Error),
}

impl WriteError {
    /// Classifies an error of the system.
    fn from_io(path: &Path, err: io::Error) -> Self {
        use io::ErrorKind;
        let shown = path_to_text(path).into_owned();
        if let Some(kind) = toolwright_base::other_kind(&err) {
            return Self::NotAFile { path: shown, kind };
        }
        match err.kind() {
            ErrorKind::NotFound => Self::Missing(shown),
            ErrorKind::IsADirectory => Self::NotAFile { path: shown, kind: "a directory" },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::Denied(shown, err),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full(shown, err)
            }
            _ => Self::Failed(shown, err),
        }
    }
}

/// Reads a file of at most `limit` bytes together with the stamp that [`Expected::Unchanged`] compares.
///
/// If the file grows during the read, the content at the time it was opened is returned. The write
/// keeps the appended bytes. Hold the file's lock from here to the write, so that other editors
/// wait.
pub fn read_for_edit(place: &WorkspacePath, limit: u64) -> Result<ForEdit, WriteError> {
    let path = place.absolute();
    let failed = |err| WriteError::from_io(path, err);
    let mut file = place.open().map_err(failed)?;
    let mut before = stamp::Identity::of_file(&file).map_err(failed)?;
    if let Some(kind) = before.kind.not_a_file() {
        return Err(WriteError::NotAFile { path: path_to_text(path).into_owned(), kind });
    }
    // A program that does not use the lock may be in the middle of a write.
    for _ in 0..8 {
        if before.length() > limit {
            let path = path_to_text(path).into_owned();
            return Err(WriteError::TooLarge { path, bytes: before.length(), limit });
        }
        let mut bytes = Vec::with_capacity(before.capacity());
        io::Seek::rewind(&mut file).map_err(failed)?;
        (&mut file).take(before.length()).read_to_end(&mut bytes).map_err(failed)?;
        let after = stamp::Identity::of_file(&file).map_err(failed)?;
        let is_whole = bytes.len() as u64 == before.length();
        if after == before || (is_whole && after.length() > before.length()) {
            let stamp = Stamp::new(before, blake3::hash(&bytes));
            return Ok(ForEdit { bytes, stamp });
        }
        before = after;
    }
    Err(WriteError::Changed(path_to_text(path).into_owned()))
}

/// Makes `bytes` the content of the file. Creates the file and its directories if they do not exist.
///
/// After an error the file still has its old bytes, and no temporary file or new directory is left.
/// `expected` is checked right before the rename. Editors that use `FileLocks` cannot change the
/// file after the check. Other programs could only do so within the time of one system call.
pub fn write_atomically(
    place: &WorkspacePath,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Written, WriteError> {
    #[cfg(unix)]
    return unix_write::write(place, bytes, expected);
    #[cfg(not(unix))]
    return portable_write::write(place, bytes, expected);
}

/// Removes a file if it still has the content of the stamp. Used to undo its creation.
pub fn remove_unchanged(place: &WorkspacePath, stamp: &Stamp) -> Result<(), WriteError> {
    #[cfg(unix)]
    return unix_write::remove(place, stamp);
    #[cfg(not(unix))]
    return portable_write::remove(place, stamp);
}
