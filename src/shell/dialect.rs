//! Which shell reads a line, as far as that changes what the line means.

use std::path::Path;

/// The shell that reads a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellDialect {
    /// bash.
    #[default]
    Bash,
    /// `sh`, which may be bash, dash or another: only what all of them read alike is understood.
    Posix,
    /// One with a language of its own. What is seen in its lines can be denied and nothing allowed.
    Other,
}

impl ShellDialect {
    /// The shell that a program is, by its name.
    pub fn of_program(program: &Path) -> Self {
        match program.file_name().and_then(|it| it.to_str()) {
            Some("bash" | "bash.exe") => Self::Bash,
            Some("sh" | "dash" | "ash" | "sh.exe") => Self::Posix,
            _ => Self::Other,
        }
    }
}
