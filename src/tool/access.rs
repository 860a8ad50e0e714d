//! What one call will touch. Policy judges these and never guesses at a tool's JSON.

use std::path::{Path, PathBuf};

use crate::{path_text::path_to_text, terminal::escaped};

/// One thing a call will touch, resolved: the very path that will be opened.
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
    /// How the touched thing is shown to a person.
    pub fn location(&self) -> String {
        match self {
            Self::Read(path) | Self::Write(path) => shown_path(path),
            Self::Run(target) | Self::Connect(target) => shown_text(target),
        }
    }
}

/// A path as it is shown: nothing in it acts on a terminal, and given to a tool it names that file again.
pub fn shown_path(path: &Path) -> String {
    path_to_text(path).into_owned()
}

/// A command or another text of several lines as a person is shown it.
pub fn shown_text(text: &str) -> String {
    escaped(text, |it| it.is_control() && !matches!(it, '\n' | '\t'))
}
