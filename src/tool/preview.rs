//! What a person is shown of a call before it runs, and what that was made from.

use std::path::{Path, PathBuf};

/// What a person who is asked is shown of a call's effect on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The change as a unified diff; nothing where the call would fail or change nothing.
    pub diff: Option<String>,
    /// The file that it was made from.
    pub file: ShownFile,
}

/// A file as it was when a person was asked. What they agree to is the change of that content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// The file.
    pub path: PathBuf,
    /// What it held.
    pub content: ShownContent,
}

/// What a file held when a person was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownContent {
    /// Content with this hash.
    Held(blake3::Hash),
    /// There was no file.
    Absent,
    /// It could not be read.
    Unreadable,
}

impl ShownFile {
    /// True unless the file at the path holds something else now than the person was shown.
    pub fn is_still(&self, path: &Path, now: ShownContent) -> bool {
        self.path != path || (self.content == now && now != ShownContent::Unreadable)
    }
}
