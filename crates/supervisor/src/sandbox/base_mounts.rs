//! The mounts that every sandbox has, independent of its plan: a `/proc` that shows only the
//! sandbox's processes, and a `/dev` in which only harmless devices can be opened.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    path::Path,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, openat},
    mount::{MountFlags, MountPropagationFlags, OpenTreeFlags, mount, mount_change, open_tree},
};

use super::{
    SandboxError,
    kernel_objects::{IpcObjects, lock_groups},
    limits::open_highest_id,
    mount_calls::{NO_DEVICES, attach, change, clone_of, make_read_only},
};
use crate::system_calls::MountAttributes;

/// The devices that stay usable. None of them gives access to another user's files.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Kernel settings that root could use to change the machine, for example the program that the
/// kernel runs after a crash. They are mounted read-only.
const KERNEL_SETTINGS: [&str; 6] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/sys"];

/// Limits the number of mount namespaces in this user namespace and its descendants.
const MOUNT_NAMESPACES: &str = "sys/user/max_mnt_namespaces";

/// The highest value that the kernel accepts.
const ANY_NUMBER: &[u8] = b"2147483647";

/// Kernel settings of this sandbox that are written later, when a command has arrived.
#[derive(Default)]
pub(crate) struct LateSettings {
    /// Limits the number of processes. `None` if this kernel cannot, or once it was used.
    pub(crate) highest_id: Option<File>,
    mount_namespaces: Option<File>,
}

impl LateSettings {
    /// Forbids new mount namespaces. A mount point cannot be renamed, but only in the namespaces
    /// where it is mounted: in a new mount namespace a command could unmount everything at once and
    /// rename files in a directory that it had opened before. Afterwards nothing can be mounted,
    /// not even by this process.
    pub(crate) fn forbid_mount_namespaces(&self) -> Result<(), SandboxError> {
        self.limit_mount_namespaces(b"0").map_err(|cause| {
            SandboxError::refused("mount namespaces of commands cannot be forbidden", cause)
        })
    }

    /// Lets this process mount again. There must be no other process in the sandbox.
    pub(crate) fn allow_mounting(&self) -> Result<(), SandboxError> {
        self.limit_mount_namespaces(ANY_NUMBER)
            .map_err(|cause| SandboxError::refused("nothing can be mounted", cause))
    }

    fn limit_mount_namespaces(&self, number: &[u8]) -> io::Result<()> {
        let file = self.mount_namespaces.as_ref().ok_or(io::ErrorKind::NotFound)?;
        // The kernel accepts a number only at the beginning of such a file.
        file.write_all_at(number, 0)
    }
}

/// Mounts the base in the mount namespace of this process, which no other process uses yet.
pub(crate) fn mount_base(is_root: bool) -> Result<(LateSettings, IpcObjects), SandboxError> {
    let refused = |what: &str| {
        let what = what.to_owned();
        move |cause: rustix::io::Errno| SandboxError::refused(&what, cause)
    };
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(refused("mounts cannot be made private"))?;
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let devices: Vec<(&str, OwnedFd)> = DEVICES
        .into_iter()
        .filter_map(|path| Some((path, open_tree(CWD, path, clone).ok()?)))
        .collect();
    let root = open(Path::new("/")).map_err(refused("`/` cannot be opened"))?;
    change(&root, MountAttributes { set: NO_DEVICES, clear: 0, is_recursive: true })
        .map_err(|cause| SandboxError::refused("devices cannot be closed", cause))?;
    for (path, device) in devices {
        let place = open(Path::new(path)).map_err(refused(path))?;
        attach(&device, &place).map_err(|cause| SandboxError::refused(path, cause))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags | MountFlags::NODEV, None)
        .map_err(refused("`/proc` cannot be mounted"))?;
    mount_terminals(flags);
    let objects = IpcObjects::mount_queues()?;
    lock_groups()?;
    let mount_namespaces = open_limit_of_namespaces().map_err(|cause| {
        SandboxError::refused("mount namespaces of commands cannot be forbidden", cause)
    })?;
    let highest_id = open_highest_id();
    if is_root {
        for path in KERNEL_SETTINGS {
            let Ok(place) = open(Path::new(path)) else { continue };
            let copy = clone_of(&place);
            copy.and_then(|copy| {
                make_read_only(&copy)?;
                attach(&copy, &place)
            })
            .map_err(|cause| SandboxError::refused(path, cause))?;
        }
    }
    Ok((LateSettings { highest_id, mount_namespaces: Some(mount_namespaces) }, objects))
}

/// Opens the file in a copy of `/proc` that is mounted nowhere. A mount with a file open for
/// writing cannot become read-only.
fn open_limit_of_namespaces() -> io::Result<File> {
    let settings = clone_of(&open(Path::new("/proc"))?)?;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(openat(&settings, MOUNT_NAMESPACES, flags, Mode::empty())?.into())
}

/// Mounts a separate `/dev/pts`. If that fails, only programs that open a terminal do not work.
fn mount_terminals(flags: MountFlags) {
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    if mount("devpts", "/dev/pts", "devpts", flags, options).is_err() {
        return;
    }
    let is_device = rustix::fs::lstat("/dev/ptmx")
        .is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::CharacterDevice);
    if is_device
        && let (Ok(own), Ok(place)) =
            (open(Path::new("/dev/pts/ptmx")), open(Path::new("/dev/ptmx")))
        && let Ok(copy) = clone_of(&own)
    {
        let _ = attach(&copy, &place);
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}
