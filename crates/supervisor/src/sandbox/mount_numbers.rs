//! Records which mount is on top of which path, by the kernel's mount ids.
//!
//! Kernels before 6.8 reuse the id of a mount that is gone. So a path loses its id when the same id
//! is recorded for another path.

use std::{
    collections::{HashMap, HashSet},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};

/// `STATX_MNT_ID_UNIQUE`: requests a mount id that is never reused. Older kernels ignore it.
const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// The mounts that a sandbox has made, by path.
#[derive(Default)]
pub(crate) struct MountNumbers {
    of_places: HashMap<PathBuf, u64>,
    places: HashMap<u64, PathBuf>,
    /// Mounts that hide files with several names.
    covers: HashSet<u64>,
}

impl MountNumbers {
    /// Records the mount on top of a path. `None` if there is no mount of this sandbox on it any
    /// more.
    pub(crate) fn note(&mut self, place: &Path, number: Option<u64>) {
        if let Some(before) = self.of_places.remove(place) {
            self.places.remove(&before);
        }
        let Some(number) = number else { return };
        self.covers.remove(&number);
        if let Some(other) = self.places.insert(number, place.to_owned()) {
            self.of_places.remove(&other);
        }
        self.of_places.insert(place.to_owned(), number);
    }

    /// True if the recorded mount is still on top of the path.
    pub(crate) fn is_on_top(&self, place: &Path) -> bool {
        self.of_places.get(place).is_some_and(|it| top_mount(place) == Some(*it))
    }

    /// Records a mount that hides a file, whatever path it is opened by.
    pub(crate) fn note_cover(&mut self, number: Option<u64>) {
        if let Some(other) = number.and_then(|it| self.places.remove(&it)) {
            self.of_places.remove(&other);
        }
        self.covers.extend(number);
    }

    /// True if an open file is hidden by a mount recorded with [`Self::note_cover`].
    pub(crate) fn is_covered(&self, open: &OwnedFd) -> bool {
        number_of(open).is_some_and(|it| self.covers.contains(&it))
    }
}

/// The id of the mount that a path is in. `None` if the path does not exist.
pub(crate) fn top_mount(path: &Path) -> Option<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC;
    statx(CWD, path, flags, UNIQUE | StatxFlags::MNT_ID).ok().as_ref().and_then(mount_number)
}

/// The id of a mount, or of the mount that an open file is in.
pub(crate) fn number_of(mount: &OwnedFd) -> Option<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    statx(mount, c"", flags, UNIQUE | StatxFlags::MNT_ID).ok().as_ref().and_then(mount_number)
}

fn mount_number(seen: &Statx) -> Option<u64> {
    let filled = StatxFlags::from_bits_retain(seen.stx_mask);
    filled.intersects(UNIQUE | StatxFlags::MNT_ID).then_some(seen.stx_mnt_id)
}
