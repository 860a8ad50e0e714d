//! The shell that a line is written for. Some lines mean different things in different shells.

use std::path::Path;

/// The kind of shell that reads a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellDialect {
    /// bash, whose grammar this module reads.
    #[default]
    Bash,
    /// `sh`, which may be bash, dash or another shell. Only constructs that all of them read the same way are
    /// understood.
    Posix,
    /// A shell with another language. Commands found in its lines can be denied, but nothing can be allowed.
    Other,
}

impl ShellDialect {
    /// The kind of a shell, by the name of its program.
    pub fn of_program(program: &Path) -> Self {
        match program.file_name().and_then(|it| it.to_str()) {
            Some("bash" | "bash.exe") => Self::Bash,
            Some("sh" | "dash" | "ash" | "sh.exe") => Self::Posix,
            _ => Self::Other,
        }
    }
}
