//! The system's directories for the user who runs the host.

use std::{env, path::PathBuf};

use super::Environment;

/// The user's home. `~` stands for it in rules.
pub fn home_directory() -> Option<PathBuf> {
    env::home_dir().filter(|it| it.is_absolute())
}

/// The directory for the user's settings: `$XDG_CONFIG_HOME`, or `~/.config`.
pub fn configuration_directory() -> Option<PathBuf> {
    env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|it| it.is_absolute())
        .or_else(|| Some(home_directory()?.join(".config")))
}

/// The directory for the user's data: `$XDG_DATA_HOME`, or the system's default.
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
