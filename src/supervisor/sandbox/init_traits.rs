//! What a command can change of process 1, although it can neither signal it nor look into it: they have the same
//! user, and share the directory.
//!
//! The shell of the next command would inherit it. So process 1 has only as many commands as leave it as it was.

use std::fs;

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

/// What shells inherit of process 1, and a command may have changed.
#[derive(PartialEq, Eq)]
pub(crate) struct InitTraits {
    limits: [Rlimit; LIMITS.len()],
    nice: Option<i32>,
    processors: Option<CpuSet>,
    scheduling: [i64; 2],
    group: Option<Vec<u8>>,
    memory_score: Option<Vec<u8>>,
    /// The file system, the file and the mount of the directory that is `/`.
    root: Option<(u32, u32, u64, u64)>,
    mask: Mode,
}

impl InitTraits {
    /// Those of this process.
    pub(crate) fn now() -> Self {
        // There is no other way to see it.
        let mask = umask(Mode::empty());
        umask(mask);
        let seen = statx(CWD, "/", AtFlags::STATX_DONT_SYNC, StatxFlags::INO | StatxFlags::MNT_ID);
        Self {
            limits: LIMITS.map(getrlimit),
            nice: getpriority_process(None).ok(),
            processors: sched_getaffinity(None).ok(),
            scheduling: system_calls::scheduling(),
            group: fs::read("/proc/self/cgroup").ok(),
            memory_score: fs::read("/proc/self/oom_score_adj").ok(),
            root: seen
                .ok()
                .map(|it| (it.stx_dev_major, it.stx_dev_minor, it.stx_ino, it.stx_mnt_id)),
            mask,
        }
    }

    /// Undoes what can be undone. False if something else has changed.
    pub(crate) fn restore(&self) -> bool {
        umask(self.mask);
        Self::now() == *self
    }
}
