//! Finds the directories that must not be renamed: the parents of hidden and read-only paths. If a
//! parent were renamed, a new file could be made under the protected path.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// The parent directories of these paths that the command could rename. Mounting a directory onto
/// itself prevents it: a mount point cannot be renamed.
pub(crate) fn pinned_directories<'a>(places: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let mut seen = HashSet::new();
    let mut pins = BTreeSet::new();
    for place in places {
        for directory in place.ancestors().skip(1) {
            let Some(parent) = directory.parent() else { break };
            if !seen.insert(directory) {
                // The directories above it were seen too.
                break;
            }
            if may_rename_in(parent) {
                pins.insert(directory);
            }
        }
    }
    pins
}

/// True if the command can rename entries of a directory, or can give itself the right to.
fn may_rename_in(directory: &Path) -> bool {
    // Checked with the capabilities of this process. Without them a directory of the same user
    // could look read-only, although a `chmod` would make it writable.
    accessat(CWD, directory, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}
