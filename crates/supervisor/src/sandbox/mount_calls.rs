//! Mount calls that use descriptors instead of paths, so that a concurrent rename cannot redirect
//! them.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
    thread,
    time::Duration,
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
        fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
    },
};

use crate::system_calls::{MountAttributes, set_mount_attributes};

/// How often, and at which interval, to look for a file that is being replaced.
const REPLACEMENT_LOOKS: usize = 40;
const REPLACEMENT_PAUSE: Duration = Duration::from_millis(5);

/// `MOUNT_ATTR_RDONLY`.
pub(crate) const READ_ONLY: u64 = MountAttrFlags::MOUNT_ATTR_RDONLY.bits() as u64;
/// `MOUNT_ATTR_NODEV`.
pub(crate) const NO_DEVICES: u64 = MountAttrFlags::MOUNT_ATTR_NODEV.bits() as u64;

/// Opens a path without following any symbolic link in it. `None` if it does not exist.
pub(crate) fn open_place(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(CWD, path, flags, Mode::empty(), resolve) {
            Ok(place) => return Ok(Some(place)),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            // A parent directory was renamed during the lookup.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for a file that another program is replacing and that is missing for a moment. Returns
/// false if it does not appear.
pub(crate) fn wait_for_replacement(mut has_come: impl FnMut() -> bool) -> bool {
    (0..REPLACEMENT_LOOKS).any(|_| {
        thread::sleep(REPLACEMENT_PAUSE);
        has_come()
    })
}

/// A detached copy of the mount at an open path, with all mounts below it.
pub(crate) fn clone_of(place: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(place, c"", flags)?)
}

/// Mounts a detached copy on top of an open path. Afterwards the descriptor refers to the new
/// mount.
pub(crate) fn attach(mount: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", place, c"", flags)?)
}

/// Changes the attributes of a mount.
pub(crate) fn change(mount: &OwnedFd, attributes: MountAttributes) -> io::Result<()> {
    set_mount_attributes(mount.as_fd(), c"", attributes)
}

/// Makes a mount read-only, with all mounts below it.
pub(crate) fn make_read_only(mount: &OwnedFd) -> io::Result<()> {
    change(mount, MountAttributes { set: READ_ONLY, clear: 0, is_recursive: true })
}

/// A new file system whose only directory cannot be read or changed by any user.
pub(crate) fn closed_directory() -> io::Result<OwnedFd> {
    let memory = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [(c"mode", c"000"), (c"size", c"4k"), (c"nr_inodes", c"2")] {
        fsconfig_set_string(&memory, key, value)?;
    }
    fsconfig_create(&memory)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&memory, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
