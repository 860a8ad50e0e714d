//! What a call will touch. Policy judges these declarations, and does not interpret a tool's input itself.

use std::path::{Path, PathBuf};

use crate::{path_text::path_to_text, terminal::visible};

/// One thing that a call will touch. A path is resolved already: exactly this path will be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads the file or directory.
    Read(PathBuf),
    /// Creates, changes or removes the file.
    Write(PathBuf),
    /// Runs the command line.
    Run(String),
    /// Talks to the URL.
    Connect(String),
}

impl Access {
    /// The path, command or URL as a person is shown it.
    pub(crate) fn location(&self) -> String {
        match self {
            Self::Read(path) | Self::Write(path) => shown_path(path),
            Self::Run(target) | Self::Connect(target) => shown_text(target),
        }
    }
}

/// A path as it is shown. Characters that act on a terminal or cannot be seen are escaped, in a way that
/// tools take back: the text names the same file again.
pub(crate) fn shown_path(path: &Path) -> String {
    path_to_text(path).into_owned()
}

/// A text of one or more lines, such as a command, as a person is shown it.
pub(crate) fn shown_text(text: &str) -> String {
    visible(text).into_owned()
}
