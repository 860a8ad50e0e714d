//! The directories that the system keeps for the user who runs the host.

use std::{env, path::PathBuf};

use super::Environment;

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

/// Where programs keep the user's data: `$XDG_DATA_HOME`, or the system's own place.
pub fn data_directory(environment: &Environment) -> Option<PathBuf> {
    let named =
        |name: &str| environment.variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || named("HOME").or_else(home_directory);
    named("XDG_DATA_HOME").or_else(|| {
        if cfg!(windows) {
            named("LOCALAPPDATA").or_else(|| Some(home()?.join("AppData").join("Local")))
        } else if cfg!(target_os = "macos") {
            Some(home()?.join("Library").join("Application Support"))
        } else {
            Some(home()?.join(".local").join("share"))
        }
    })
}
