//! Kernel objects that are not files: control groups, System V and POSIX IPC objects, and keys.
//!
//! Control groups and IPC objects have namespaces, but both also appear in file systems that may be
//! mounted already. Keys have no namespace, so commands cannot use them at all.

use std::{
    ffi::OsString,
    fs, io,
    os::{fd::OwnedFd, unix::ffi::OsStringExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::fstatfs,
    mount::{MountFlags, mount},
};

use super::{
    SandboxError,
    mount_calls::{make_read_only, open_place},
    seccomp,
};
use crate::system_calls;

/// The types of file systems in which control groups are directories, with their magic numbers.
const GROUP_SYSTEMS: [(&str, u64); 2] = [("cgroup", 0x0027_e0eb), ("cgroup2", 0x6367_7270)];
/// The type of file system in which POSIX message queues are files.
const QUEUE_SYSTEM: &str = "mqueue";
/// Limits the number of control group namespaces in this user namespace and its descendants.
const GROUP_NAMESPACES: &str = "/proc/sys/user/max_cgroup_namespaces";
/// The directory in which POSIX shared memory objects are files.
const SHARED_MEMORY: &str = "/dev/shm";
/// Lists of the System V objects of the reader's namespace. The first line is a heading.
const SYSTEM_V_LISTS: [&str; 3] = ["/proc/sysvipc/msg", "/proc/sysvipc/sem", "/proc/sysvipc/shm"];

/// The IPC objects that a command can create in the sandbox and that outlive its processes.
#[derive(Default)]
pub(crate) struct IpcObjects {
    /// Directories that list POSIX objects.
    directories: Vec<PathBuf>,
    has_own_memory: bool,
}

impl IpcObjects {
    /// Mounts the message queues of this IPC namespace over those of the machine.
    pub(crate) fn mount_queues() -> Result<Self, SandboxError> {
        let mounts =
            mounted().map_err(|it| SandboxError::refused("mounts cannot be listed", it))?;
        let directories = mount_points(&mounts, |system| system == QUEUE_SYSTEM);
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        for place in &directories {
            mount(QUEUE_SYSTEM, place, QUEUE_SYSTEM, flags, None)
                .map_err(|it| SandboxError::refused("message queues cannot be separated", it))?;
        }
        Ok(Self { directories, has_own_memory: false })
    }

    /// Mounts an empty directory for shared memory, unless it is mounted already. `limit` is the
    /// most memory that its files can use, in bytes.
    pub(crate) fn mount_memory(&mut self, limit: Option<u64>) -> Result<(), SandboxError> {
        let place = Path::new(SHARED_MEMORY);
        // On some systems it is a link, whose target is an ordinary directory.
        if self.has_own_memory || !place.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            return Ok(());
        }
        let size = limit.map(|it| format!(",size={it}")).unwrap_or_default();
        let options = std::ffi::CString::new(format!("mode=1777{size}"))
            .map_err(|it| SandboxError::refused("shared memory cannot be separated", it))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", place, "tmpfs", flags, options.as_c_str())
            .map_err(|it| SandboxError::refused("shared memory cannot be separated", it))?;
        self.directories.push(place.to_owned());
        self.has_own_memory = true;
        Ok(())
    }

    /// True if no object exists. A list that cannot be read counts as one that has an object.
    pub(crate) fn are_none(&self) -> bool {
        let is_empty = |it: &PathBuf| fs::read_dir(it).is_ok_and(|mut it| it.next().is_none());
        let has_only_heading = |path: &&str| match fs::read_to_string(path) {
            Ok(list) => list.lines().nth(1).is_none(),
            // The kernel was built without these objects.
            Err(cause) => cause.kind() == io::ErrorKind::NotFound,
        };
        self.directories.iter().all(is_empty) && SYSTEM_V_LISTS.iter().all(has_only_heading)
    }
}

/// Makes the control groups read-only, and prevents new mounts of them. With a delegated group, an
/// ordinary user could otherwise kill or freeze processes outside the sandbox, or leave a limit.
pub(crate) fn lock_groups() -> Result<(), SandboxError> {
    let refused = |it: io::Error| SandboxError::refused("control groups cannot be locked", it);
    let is_group_system = |system: &str| GROUP_SYSTEMS.iter().any(|it| it.0 == system);
    for path in mount_points(&mounted().map_err(refused)?, is_group_system) {
        match open_place(&path) {
            Ok(Some(place)) if shows_groups(&place) => make_read_only(&place).map_err(refused)?,
            // Another mount covers it.
            Ok(_) => {}
            // What this process cannot reach, no command can reach.
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {}
            Err(cause) => return Err(refused(cause)),
        }
    }
    match fs::write(GROUP_NAMESPACES, "0") {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(refused(cause)),
        _ => Ok(()),
    }
}

/// Prevents this process and its children from using keys.
pub(crate) fn refuse_keys() -> Result<(), SandboxError> {
    // Hides the host's keys in `/proc/keys`. If no more keyrings are allowed, they stay visible
    // there, but the filter refuses every call that could read one.
    system_calls::join_new_keyring();
    let filter = seccomp::without_keys();
    seccompiler::apply_filter(&filter)
        .map_err(|_| SandboxError::refused("keys cannot be refused", io::Error::last_os_error()))
}

fn shows_groups(place: &OwnedFd) -> bool {
    fstatfs(place).is_ok_and(|it| {
        let magic = u64::try_from(it.f_type).unwrap_or_default();
        GROUP_SYSTEMS.iter().any(|(_, known)| *known == magic)
    })
}

fn mounted() -> io::Result<Vec<u8>> {
    fs::read("/proc/self/mountinfo")
}

/// The mount points of file systems whose type `is_wanted`, from `/proc/self/mountinfo`.
fn mount_points(mounts: &[u8], is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let point = |line: &[u8]| {
        let mut fields = line.split(|it| *it == b' ');
        let path = fields.nth(4)?;
        // After the options come fields of no fixed number, then a dash and the type.
        let system = fields.skip_while(|it| *it != b"-").nth(1)?;
        is_wanted(std::str::from_utf8(system).ok()?).then(|| unescaped(path))
    };
    mounts.split(|it| *it == b'\n').filter_map(point).collect()
}

/// A path without the octal escapes of `/proc/self/mountinfo`, such as `\040` for a blank.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..3).and_then(|it| std::str::from_utf8(it).ok());
        let byte = escape.filter(|_| *first == b'\\').and_then(|it| u8::from_str_radix(it, 8).ok());
        path.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_found_by_type_and_unescaped() {
        let mounts = b"22 1 0:20 / / rw - ext4 /dev/vda rw\n\
            30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw\n\
            31 22 0:27 / /mnt/a\\040b\\134 rw shared:5 master:2 - cgroup none rw,cpu\n\
            32 22 0:28 / /mnt/cgroup rw - tmpfs cgroup rw\n";
        let found = mount_points(mounts, |it| GROUP_SYSTEMS.iter().any(|(known, _)| *known == it));
        assert_eq!(found, [Path::new("/sys/fs/cgroup"), Path::new("/mnt/a b\\")]);
    }
}
