//! The directories that the system keeps for the user who runs the host.

use std::{env, path::PathBuf};

/// The user's home, which `~` stands for in rules.
pub fn home_directory() -> Option<PathBuf> {
    env::home_dir().filter(|it| it.is_absolute())
}

/// Where programs keep the user's settings: `$XDG_CONFIG_HOME`, or `~/.config`.
pub(crate) fn configuration_directory() -> Option<PathBuf> {
    env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|it| it.is_absolute())
        .or_else(|| Some(home_directory()?.join(".config")))
}
