//! Which directories must not be renamed: those that lead to a place that is hidden or read-only. Otherwise
//! the place could be moved away with its directory, and another one be made under its name.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// The directories on the way to the places that the command could rename. A mount point cannot be renamed,
/// so mounting each onto itself holds it.
pub(crate) fn pinned_directories<'a>(places: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let mut seen = HashSet::new();
    let mut pins = BTreeSet::new();
    for place in places {
        for directory in place.ancestors().skip(1) {
            let Some(parent) = directory.parent() else { break };
            if !seen.insert(directory) {
                // And so was everything above it.
                break;
            }
            if may_rename_in(parent) {
                pins.insert(directory);
            }
        }
    }
    pins
}

/// True when the command may change which names a directory has, or may give itself the right to.
fn may_rename_in(directory: &Path) -> bool {
    // With the rights of this process over the files of its own user, which a `chmod` would give as well.
    accessat(CWD, directory, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}
