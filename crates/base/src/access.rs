//! What a call will touch. Policy judges these declarations and does not interpret a tool's input.

use std::path::{Path, PathBuf};

use crate::{path_text::path_to_text, terminal::visible};

/// One thing that a call will touch. A path is already resolved: exactly this path will be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads the file or directory.
    Read(PathBuf),
    /// Creates, changes or removes the file.
    Write(PathBuf),
    /// Runs the command line.
    Run(String),
    /// Connects to the URL.
    Connect(String),
}

impl Access {
    /// The path, command or URL for display to a person.
    pub fn location(&self) -> String {
        match self {
            Self::Read(path) | Self::Write(path) => shown_path(path),
            Self::Run(target) | Self::Connect(target) => shown_text(target),
        }
    }
}

/// A path for display. Characters that control a terminal or are invisible are escaped. The escaping is
/// reversible: tools accept the text as the same path.
pub fn shown_path(path: &Path) -> String {
    path_to_text(path).into_owned()
}

/// A text of one or more lines, such as a command, for display to a person.
pub fn shown_text(text: &str) -> String {
    visible(text).into_owned()
}
