//! A cgroup for one command, if this process may make one. It limits the memory and the number of
//! processes of the whole command instead of each process.
//!
//! A cgroup (version 2) can be made if a parent directory belongs to this user, has its controllers
//! enabled for its children, and contains this process. That is so for services with `Delegate=`
//! and `DelegateSubgroup=`, and in containers with a cgroup namespace whose processes are in a
//! separate group. Nothing outside such a directory is changed, so other machines have no such
//! limits.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::process::Pid;
use toolwright_command_protocol::{LimitKind, ResourceLimits};

/// A directory in which groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupParent {
    directory: PathBuf,
    pub(crate) limits_memory: bool,
    pub(crate) limits_processes: bool,
}

/// The group of one command.
#[derive(Debug)]
pub(crate) struct CommandGroup(PathBuf);

impl GroupParent {
    /// The directory for this process's commands, if there is one.
    pub(crate) fn find() -> Option<Self> {
        let group = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = group_directory(&group, &mounts)?;
        // Only a group without children may contain processes, so the parent comes first.
        [own.parent(), Some(own.as_path())].into_iter().flatten().find_map(Self::at)
    }

    /// The directory, if groups with controllers can be made in it and processes moved there.
    fn at(directory: &Path) -> Option<Self> {
        let controllers = fs::read_to_string(directory.join("cgroup.subtree_control")).ok()?;
        let has = |name: &str| controllers.split_ascii_whitespace().any(|it| it == name);
        let (limits_memory, limits_processes) = (has("memory"), has("pids"));
        // To move a process, the kernel requires this right in the common parent of its old and its
        // new group.
        let is_ours = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
        ((limits_memory || limits_processes)
            && is_ours(directory)
            && is_ours(&directory.join("cgroup.procs")))
        .then(|| Self { directory: directory.to_owned(), limits_memory, limits_processes })
    }

    /// Makes a group with limits. Fails if the name is in use.
    pub(crate) fn make(&self, name: &str, limits: &ResourceLimits) -> io::Result<CommandGroup> {
        let group = CommandGroup(self.directory.join(name));
        fs::create_dir(&group.0)?;
        let set = || -> io::Result<()> {
            if let Some(bytes) = limits.memory_bytes
                && self.limits_memory
            {
                group.write("memory.max", &bytes.to_string())?;
                // Without this the command would use swap beyond its limit. A kernel without swap
                // has no such file.
                let _ = group.write("memory.swap.max", "0");
            }
            if let Some(count) = limits.processes
                && self.limits_processes
            {
                group.write("pids.max", &count.to_string())?;
            }
            Ok(())
        };
        set().inspect_err(|_| group.remove())?;
        Ok(group)
    }
}

impl CommandGroup {
    /// A descriptor to which a process writes `0` to enter the group. The kernel checks the rights
    /// of the process that opened the descriptor.
    pub(crate) fn entrance(&self) -> io::Result<OwnedFd> {
        Ok(fs::File::options().write(true).open(self.0.join("cgroup.procs"))?.into())
    }

    /// Moves a process into the group. Processes that it starts later are in the group too.
    pub(crate) fn add(&self, process: Pid) -> io::Result<()> {
        self.write("cgroup.procs", &process.as_raw_nonzero().to_string())
    }

    /// The limit that the command reached, if any.
    pub(crate) fn limit_hit(&self) -> Option<LimitKind> {
        let has_event = |file: &str, event: &str| {
            let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
            let count = text.lines().filter_map(|it| it.split_once(' ')).find(|it| it.0 == event);
            count.is_some_and(|(_, count)| count.trim() != "0")
        };
        if has_event("memory.events", "oom_kill") {
            Some(LimitKind::Memory)
        } else if has_event("pids.events", "max") {
            Some(LimitKind::Processes)
        } else {
            None
        }
    }

    /// Removes the group. A group that still has processes remains, and so do their limits.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir(&self.0);
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.0.join(file), text)
    }
}

/// The directory of this process's cgroup of version 2, from `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn group_directory(group: &str, mounts: &str) -> Option<PathBuf> {
    let group = group.lines().find_map(|it| it.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        if !system.starts_with("cgroup2 ") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, mount_point) = (fields.next()?, fields.next()?);
        // Paths with spaces are escaped in this file. They are not supported here.
        let inside = match root {
            "/" => group,
            root => group.strip_prefix(root)?,
        };
        (inside.is_empty() || inside.starts_with('/'))
            .then(|| Path::new(mount_point).join(inside.trim_start_matches('/')))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const LIMITS: ResourceLimits = ResourceLimits {
        cpu_seconds: None,
        memory_bytes: Some(1 << 20),
        processes: Some(7),
        file_bytes: None,
    };

    #[test]
    fn own_group_is_found_at_any_mount_point() {
        let mount = |root: &str, place: &str, system: &str| {
            format!(
                "22 1 0:20 / / rw - ext4 /dev/vda rw\n30 22 0:26 {root} {place} rw,nosuid shared:4 - {system} \
                 cgroup rw\n"
            )
        };
        let found = |group: &str, mounts: &str| group_directory(group, mounts);
        let usual = mount("/", "/sys/fs/cgroup", "cgroup2");
        assert_eq!(found("0::/a.slice/b\n", &usual), Some("/sys/fs/cgroup/a.slice/b".into()));
        let hybrid = mount("/", "/sys/fs/cgroup/unified", "cgroup2");
        let both = "4:memory:/other\n0::/a\n";
        assert_eq!(found(both, &hybrid), Some("/sys/fs/cgroup/unified/a".into()));
        let container = mount("/docker/1", "/sys/fs/cgroup", "cgroup2");
        assert_eq!(found("0::/docker/1/b\n", &container), Some("/sys/fs/cgroup/b".into()));
        assert_eq!(found("0::/docker/1\n", &container), Some("/sys/fs/cgroup/".into()));
        assert_eq!(found("0::/docker/12\n", &container), None);
        assert_eq!(found("4:memory:/a\n", &usual), None);
        assert_eq!(found("0::/a\n", &mount("/", "/sys/fs/cgroup/memory", "cgroup")), None);
    }

    #[test]
    fn a_group_is_made_where_controllers_are_switched_on() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        assert_eq!(GroupParent::at(place), None);
        fs::write(place.join("cgroup.procs"), "").unwrap();
        fs::write(place.join("cgroup.subtree_control"), "cpu io\n").unwrap();
        assert_eq!(GroupParent::at(place), None);
        fs::write(place.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let parent = GroupParent::at(place).unwrap();
        assert!(parent.limits_memory && parent.limits_processes);
        let group = parent.make("one", &LIMITS).unwrap();
        let text = |file: &str| fs::read_to_string(place.join("one").join(file)).unwrap();
        assert_eq!(
            [text("memory.max"), text("memory.swap.max"), text("pids.max")],
            ["1048576", "0", "7"]
        );
        assert!(parent.make("one", &LIMITS).is_err(), "a name was used twice");
        group.add(rustix::process::getpid()).unwrap();
        assert_eq!(text("cgroup.procs"), std::process::id().to_string());
        fs::write(place.join("cgroup.subtree_control"), "pids\n").unwrap();
        let parent = GroupParent::at(place).unwrap();
        assert!(!parent.limits_memory);
        parent.make("two", &LIMITS).unwrap();
        assert!(!place.join("two/memory.max").exists());
    }

    #[test]
    fn events_show_which_limit_was_reached() {
        let place = tempfile::tempdir().unwrap();
        let group = CommandGroup(place.path().to_owned());
        let write = |file: &str, text: &str| fs::write(place.path().join(file), text).unwrap();
        assert_eq!(group.limit_hit(), None);
        write("memory.events", "low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\n");
        write("pids.events", "max 0\n");
        assert_eq!(group.limit_hit(), None);
        write("pids.events", "max 3\n");
        assert_eq!(group.limit_hit(), Some(LimitKind::Processes));
        write("memory.events", "max 12\noom 1\noom_kill 1\n");
        assert_eq!(group.limit_hit(), Some(LimitKind::Memory));
    }

    #[test]
    fn an_empty_group_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let group = CommandGroup(place.path().join("group"));
        fs::create_dir(&group.0).unwrap();
        group.remove();
        assert!(!group.0.exists());
    }
}
