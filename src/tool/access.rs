//! What one call will touch. Policy judges these and never guesses at a tool's JSON.

use std::path::PathBuf;

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
            Self::Read(path) | Self::Write(path) => path.display().to_string(),
            Self::Run(target) | Self::Connect(target) => target.clone(),
        }
    }
}
