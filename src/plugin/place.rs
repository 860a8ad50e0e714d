//! Directories that plugin files name.

use std::path::{Path, PathBuf};

use crate::session::home_directory;

/// The directory that a file names: absolute, from home by `~/`, or relative to the workspace. Links are
/// followed. Nothing if there is none.
pub(super) fn named_directory(named: &str, workspace: &Path) -> Option<PathBuf> {
    let from_home = if named == "~" { Some("") } else { named.strip_prefix("~/") };
    let path = match from_home {
        Some(rest) => home_directory()?.join(rest),
        None => workspace.join(named),
    };
    path.canonicalize().ok().filter(|it| it.is_dir())
}
