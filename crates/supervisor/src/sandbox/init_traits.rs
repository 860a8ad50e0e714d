//! The state of PID 1 that a command can change. A command can neither signal nor trace PID 1, but
//! they have the same user and share the current directory.
//!
//! The shell of the next command would inherit such a change, so a changed PID 1 gets no further
//! command.

use std::{fs, path::Path};

use rustix::{
    fs::{AtFlags, CWD, Mode, StatxFlags, statx},
    process::{Resource, Rlimit, getpriority_process, getrlimit, umask},
    thread::{CpuSet, sched_getaffinity},
};

use crate::system_calls;

/// The limits that one process can set for another.
const LIMITS: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// Files in the directory of a process in `/proc` whose values its children inherit.
const SETTINGS: [&str; 4] = ["autogroup", "coredump_filter", "oom_score_adj", "timerslack_ns"];

/// The state that shells inherit from PID 1 and that a command may have changed.
#[derive(PartialEq, Eq)]
pub(crate) struct InitTraits {
    limits: [Rlimit; LIMITS.len()],
    nice: Option<i32>,
    processors: Option<CpuSet>,
    scheduling: [i64; 2],
    group: Option<Vec<u8>>,
    /// The content of [`SETTINGS`].
    settings: [Option<Vec<u8>>; SETTINGS.len()],
    /// The ids of the keys that it can see.
    keys: Vec<String>,
    /// The device, the inode and the mount of `/`.
    root: Option<(u32, u32, u64, u64)>,
    mask: Mode,
}

impl InitTraits {
    /// The current state of this process.
    pub(crate) fn now() -> Self {
        // `umask` can only be read by setting it.
        let mask = umask(Mode::empty());
        umask(mask);
        let seen = statx(CWD, "/", AtFlags::STATX_DONT_SYNC, StatxFlags::INO | StatxFlags::MNT_ID);
        Self {
            limits: LIMITS.map(getrlimit),
            nice: getpriority_process(None).ok(),
            processors: sched_getaffinity(None).ok(),
            scheduling: system_calls::scheduling(),
            group: fs::read("/proc/self/cgroup").ok(),
            settings: SETTINGS.map(|it| fs::read(Path::new("/proc/self").join(it)).ok()),
            keys: visible_keys(),
            root: seen
                .ok()
                .map(|it| (it.stx_dev_major, it.stx_dev_minor, it.stx_ino, it.stx_mnt_id)),
            mask,
        }
    }

    /// Restores what can be restored. Returns false if anything else has changed.
    pub(crate) fn restore(&self) -> bool {
        umask(self.mask);
        Self::now() == *self
    }
}

/// The ids of the keys in `/proc/keys`. The other columns change with time.
fn visible_keys() -> Vec<String> {
    let list = fs::read_to_string("/proc/keys").unwrap_or_default();
    list.lines().filter_map(|it| it.split(' ').next()).map(str::to_owned).collect()
}
