//! The preview of a change that a person sees before a call runs, and the file it was made from.

use std::path::{Path, PathBuf};

/// The file change that a person sees when asked about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The change as a unified diff. None if the call would fail or change nothing.
    pub diff: Option<String>,
    /// The file from which the diff was made.
    pub file: ShownFile,
}

/// A file at the time when a person was asked. They approve a change of exactly this content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Its content at that time.
    pub content: ShownContent,
}

/// The content of a file when a person was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownContent {
    /// The file had content with this hash.
    Held(blake3::Hash),
    /// There was no file.
    Absent,
    /// The file could not be read.
    Unreadable,
}

impl ShownFile {
    /// True unless the file at the path has changed since the person was shown it.
    pub fn is_still(&self, path: &Path, now: ShownContent) -> bool {
        self.path != path || (self.content == now && now != ShownContent::Unreadable)
    }
}
