//! Forks PID 1 of a sandbox into new namespaces.

use std::{ffi::CString, fs, io, os::fd::OwnedFd};

use rustix::{
    net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair},
    process::{
        DumpableBehavior, Pid, Signal, WaitOptions, getegid, geteuid, kill_process,
        set_dumpable_behavior, waitpid,
    },
};

use super::{
    SandboxError,
    init::{self, InitSetup},
};
use crate::{
    environments::Environments,
    system_calls::{Forked, fork_into_namespaces},
};

/// PID 1 of a sandbox that waits for its command, as seen by its keeper.
pub(crate) struct PreparedInit {
    pub(crate) pid: Pid,
    pub(crate) link: OwnedFd,
    /// The plan that it is prepared for, encoded. It can run no command with another plan.
    pub(crate) plan: Option<Vec<u8>>,
    /// How many commands it has run.
    pub(crate) uses: u32,
}

/// Which process maps the users of the sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserMap {
    /// PID 1 maps its own user and group to themselves. All other users appear as `nobody`.
    Own,
    /// The parent, which is root, maps all users to themselves and then sends one byte.
    FromOutside,
}

/// The byte that the parent sends once the users are mapped.
pub(crate) const MAPPED: u8 = 1;

impl PreparedInit {
    /// Forks PID 1. It prepares itself while this process continues, also for the foreseen plan if
    /// there is one.
    pub(crate) fn fork(
        environments: &Environments,
        cookie: &CString,
        foreseen: Option<&[u8]>,
    ) -> io::Result<Self> {
        let (link, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        let is_root = user == 0;
        let user_map = if is_root { UserMap::FromOutside } else { UserMap::Own };
        match fork_into_namespaces()? {
            Forked::Child => {
                drop(link);
                let setup = InitSetup {
                    link: theirs,
                    environments,
                    cookie,
                    user,
                    group,
                    user_map,
                    foreseen,
                };
                init::run_as_pid1(&setup)
            }
            Forked::Parent(pid) => {
                let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
                if user_map == UserMap::FromOutside {
                    let is_mapped = map_all_users(pid).is_ok();
                    // Fails only if PID 1 is gone, which is noticed when it gets its command.
                    let _ = send(&link, &[u8::from(is_mapped)], SendFlags::NOSIGNAL);
                }
                Ok(Self { pid, link, plan: foreseen.map(<[u8]>::to_vec), uses: 0 })
            }
        }
    }

    /// Kills PID 1. It must have no command, or all other processes of its command must have ended.
    pub(crate) fn discard(self) {
        let Self { pid, link, .. } = self;
        drop(link);
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

/// Maps all users and groups of this user namespace to themselves, for a process in a new one.
fn map_all_users(pid: Pid) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let known = fs::read_to_string(format!("/proc/self/{name}"))?;
        let same: String = known
            .lines()
            .filter_map(|line| {
                let mut numbers = line.split_ascii_whitespace();
                let (first, count) = (numbers.next()?, numbers.nth(1)?);
                Some(format!("{first} {first} {count}\n"))
            })
            .collect();
        fs::write(format!("/proc/{}/{name}", pid.as_raw_nonzero()), same)?;
    }
    Ok(())
}

/// Maps the user and group of this process, which is in a new user namespace, to themselves. `user`
/// and `group` are the ids outside. They have no id inside yet.
pub(crate) fn map_own_user(user: u32, group: u32) -> Result<(), SandboxError> {
    let refused = |cause: io::Error| SandboxError::refused("its user cannot be mapped", cause);
    // The files in `/proc` of a process that is not dumpable belong to root.
    set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|it| refused(it.into()))?;
    let mapped = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1\n")))
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1\n")));
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|it| refused(it.into()))?;
    mapped.map_err(refused)
}
