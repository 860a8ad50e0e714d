//! Which mount is on top of which place, by the numbers that the kernel gives to mounts.
//!
//! Kernels before 6.8 give the number of a mount that is gone to another one. So a place has its number only until the
//! number is noted for another place.

use std::{
    collections::{HashMap, HashSet},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};

/// Asks for a number that no other mount ever had. Older kernels do not know it.
const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// The mounts that a sandbox has made, by place.
#[derive(Default)]
pub(crate) struct MountNumbers {
    of_places: HashMap<PathBuf, u64>,
    places: HashMap<u64, PathBuf>,
    /// Those that hide something that has several names.
    covers: HashSet<u64>,
}

impl MountNumbers {
    /// Notes the mount on top of a place; none if there is none of ours any more.
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

    /// True when the mount that was noted is still on top of a place.
    pub(crate) fn hold(&self, place: &Path) -> bool {
        self.of_places.get(place).is_some_and(|it| top_mount(place) == Some(*it))
    }

    /// Notes a mount that hides something under whatever name.
    pub(crate) fn note_cover(&mut self, number: Option<u64>) {
        if let Some(other) = number.and_then(|it| self.places.remove(&it)) {
            self.of_places.remove(&other);
        }
        self.covers.extend(number);
    }

    /// True when such a mount is on top of an open place.
    pub(crate) fn cover(&self, open: &OwnedFd) -> bool {
        number_of(open).is_some_and(|it| self.covers.contains(&it))
    }
}

/// The number of the mount that a place is in. None when it is gone.
pub(crate) fn top_mount(path: &Path) -> Option<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC;
    statx(CWD, path, flags, UNIQUE | StatxFlags::MNT_ID).ok().as_ref().and_then(mount_number)
}

/// The number of a mount, or of the one that an open place is in.
pub(crate) fn number_of(mount: &OwnedFd) -> Option<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    statx(mount, c"", flags, UNIQUE | StatxFlags::MNT_ID).ok().as_ref().and_then(mount_number)
}

fn mount_number(seen: &Statx) -> Option<u64> {
    let told = StatxFlags::from_bits_retain(seen.stx_mask);
    told.intersects(UNIQUE | StatxFlags::MNT_ID).then_some(seen.stx_mnt_id)
}
