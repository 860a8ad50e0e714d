//! What one call will touch. Policy judges these and never guesses at a tool's JSON.

use std::path::{Path, PathBuf};

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
            Self::Run(target) | Self::Connect(target) => target.clone(),
        }
    }
}

/// A path as a person is shown it: control characters, which could act on a terminal, are escaped.
pub fn shown_path(path: &Path) -> String {
    let text = path.display().to_string();
    if !text.contains(char::is_control) {
        return text;
    }
    let escaped = |it: char| {
        if it.is_control() { it.escape_default().to_string() } else { it.to_string() }
    };
    text.chars().map(escaped).collect()
}
