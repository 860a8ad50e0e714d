//! Replaces the content of a file so that a crash at any instant leaves the old or the new bytes.
//!
//! The new bytes go to a temporary file beside the target, take over its metadata, reach the disk
//! and are renamed onto it. Everything is done relative to the descriptor of the target's
//! directory, which was reached from the root without following a link. What the bytes mean, and
//! who may write them, is decided elsewhere; that editors of one file take turns is `file_lock`.
//!
//! Two kinds of files cannot be replaced and are written in place: those with several hard links,
//! which a rename would part, and those a rename cannot reach. There an error restores the old
//! bytes, but a crash in the middle can leave a mixture; [`Written::in_place`] says so.

#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod exchange;
#[cfg(unix)]
mod in_place;
#[cfg(unix)]
mod metadata;
#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod replace;
#[cfg(unix)]
mod since;
mod stamp;
#[cfg(unix)]
mod temporary;
mod temporary_name;
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

pub use stamp::{Glimpse, Glimpsed, Stamp};
pub use temporary_name::is_temporary_name;

use super::path::WorkspacePath;
use crate::path_text::path_to_text;

/// What has to be at the place for a write to go ahead.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// A file with any content, or nothing.
    Anything,
    /// Nothing: the file is created, and one that appears meanwhile is kept.
    Absent,
    /// The file with the content it had when it was read for the edit.
    Unchanged(&'a Stamp),
}

/// A file that was read in order to be changed.
#[derive(Debug)]
pub struct ForEdit {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// What tells whether the file still has this content.
    pub stamp: Stamp,
}

/// What a write did.
#[derive(Debug)]
pub struct Written {
    /// The file did not exist before.
    pub created: bool,
    /// Why the file was written in place, where a crash could have torn it.
    pub in_place: Option<InPlace>,
    /// What the new file could not take over from the old one.
    pub not_kept: Vec<NotKept>,
    /// The name is on the disk as well; the content always is.
    pub durable: bool,
    /// What other programs did to the file meanwhile.
    pub foreign: Foreign,
    /// The file as it is now, to tell later whether it is still this one.
    pub stamp: Stamp,
}

/// What other programs did to a file while it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// How many bytes they appended; these stand behind what was written.
    pub appended: u64,
    /// One still has the old file open: what it writes from now on nobody will see.
    pub has_replaced_open: bool,
    /// One has written to the old file already, and not just behind it.
    pub wrote_to_replaced: bool,
}

/// Why a file was written in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// The file has other names, which a rename would leave with the old content.
    HardLinked,
    /// The file is mounted by itself or lies on another device, so nothing can be renamed onto it.
    NotRenamable,
}

/// Metadata that a new file could not take over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// The user the file belongs to; it belongs to the current user now.
    Owner,
    /// The group the file belongs to; its rights were narrowed to those of everyone.
    Group,
    /// The mode, on a file system that does not take every mode.
    Mode,
    /// The set-user-ID and set-group-ID bits and capabilities, which a plain write loses as well.
    Privileges,
    /// An extended attribute or access control list, by name.
    Attribute(String),
}

/// Why a file was not written; its old bytes are still there.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file has other content than the change was computed from.
    #[error("`{0}` changed while it was being edited; read it again and repeat the edit")]
    Changed(String),
    /// A file that was to be created exists.
    #[error("`{0}` already exists")]
    Exists(String),
    /// The file is not there.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// What is at the place has no content to replace.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The place.
        path: String,
        /// What is there instead, with its article.
        kind: &'static str,
    },
    /// A part of the path is no directory, or has become a link since the path was checked.
    #[error("`{path}` cannot be reached: `{part}` is {kind}, not a directory")]
    NotADirectory {
        /// The place.
        path: String,
        /// The name on the way to it.
        part: String,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// The file is too large to be read for a change.
    #[error(
        "`{path}` has {bytes} bytes; files of at most {limit} bytes can be changed; change it with a command, such as `sed -i`, or remove it and write it anew"
    )]
    TooLarge {
        /// The place.
        path: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The file or its directory may not be written.
    #[error("`{0}` may not be written: {1}")]
    Denied(String, #[source] io::Error),
    /// The disk, a quota or a limit on the size of files is exhausted.
    #[error("no room for `{0}`: {1}")]
    Full(String, #[source] io::Error),
    /// The system failed in another way.
    #[error("`{0}` cannot be written: {1}")]
    Failed(String, #[source] io::Error),
}

impl WriteError {
    /// Names an error of the system by its cause.
    fn from_io(path: &Path, err: io::Error) -> Self {
        use io::ErrorKind;
        let shown = path_to_text(path).into_owned();
        if let Some(kind) = crate::regular_file::other_kind(&err) {
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
/// Of a file that grows meanwhile, what it held when it was opened: the write keeps what was appended.
/// Hold the file's lock from here to the write, so that other editors wait for their turn.
pub fn read_for_edit(place: &WorkspacePath, limit: u64) -> Result<ForEdit, WriteError> {
    let path = place.absolute();
    let failed = |err| WriteError::from_io(path, err);
    let mut file = place.open().map_err(failed)?;
    let mut before = stamp::Identity::of_file(&file).map_err(failed)?;
    if let Some(kind) = before.kind.not_a_file() {
        return Err(WriteError::NotAFile { path: path_to_text(path).into_owned(), kind });
    }
    // A foreign writer that does not take turns may be in the middle of its write.
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

/// Makes `bytes` the content of the file, creating it and its directories where they are missing.
///
/// On an error the old bytes are still there, and neither a temporary file nor a new directory is
/// left. The check of `expected` comes right before the rename: editors that take turns by
/// `FileLocks` cannot slip in between, and for others the gap is one system call.
pub fn write_atomically(
    place: &WorkspacePath,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Written, WriteError> {
    #[cfg(unix)]
    return replace::write(place, bytes, expected);
    #[cfg(not(unix))]
    return portable::write(place, bytes, expected);
}

/// Removes a file that still has the content of its stamp, which takes back its creation.
pub fn remove_unchanged(place: &WorkspacePath, stamp: &Stamp) -> Result<(), WriteError> {
    #[cfg(unix)]
    return replace::remove(place, stamp);
    #[cfg(not(unix))]
    return portable::remove(place, stamp);
}
