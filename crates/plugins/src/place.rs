//! Directories that plugin files name.

use std::path::{Path, PathBuf};

use toolwright_core::home_directory;

/// The directory that a plugin file names: absolute, relative to home with `~/`, or relative to the
/// workspace. Links are followed. `None` if it does not exist.
pub(super) fn named_directory(named: &str, workspace: &Path) -> Option<PathBuf> {
    let from_home = if named == "~" { Some("") } else { named.strip_prefix("~/") };
    let path = match from_home {
        Some(rest) => home_directory()?.join(rest),
        None => workspace.join(named),
    };
    path.canonicalize().ok().filter(|it| it.is_dir())
}
