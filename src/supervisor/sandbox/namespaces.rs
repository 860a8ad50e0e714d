//! Forks process 1 of a sandbox into namespaces of its own.

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

/// Process 1 of a sandbox that waits for its command, as its keeper has it.
pub(crate) struct PreparedInit {
    pub(crate) pid: Pid,
    pub(crate) link: OwnedFd,
    /// The plan that it has prepared itself for, as bytes. It can have no other.
    pub(crate) plan: Option<Vec<u8>>,
    /// How many commands it has had.
    pub(crate) uses: u32,
}

/// Whether process 1 has to map its user itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserMap {
    /// It maps its own user and group to themselves. All others are nobody.
    Own,
    /// The process outside, which is root, maps all users to themselves, and then sends one byte.
    FromOutside,
}

/// The byte that says that the users are mapped.
pub(crate) const MAPPED: u8 = 1;

impl PreparedInit {
    /// Forks it. It prepares itself while this process goes on, also for the foreseen plan if there is one.
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
                init::live(&setup)
            }
            Forked::Parent(pid) => {
                let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
                if user_map == UserMap::FromOutside {
                    let is_mapped = map_all_users(pid).is_ok();
                    // Fails only if it is gone, which is noticed when it gets its command.
                    let _ = send(&link, &[u8::from(is_mapped)], SendFlags::NOSIGNAL);
                }
                Ok(Self { pid, link, plan: foreseen.map(<[u8]>::to_vec), uses: 0 })
            }
        }
    }

    /// Ends it before it had a command, or after all other processes of its command have ended.
    pub(crate) fn discard(self) {
        let Self { pid, link, .. } = self;
        drop(link);
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

/// Maps all users and groups that this process knows to themselves, for a process in a new user namespace.
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

/// Maps the user and group of this process, which is in a new user namespace, to themselves. `user` and
/// `group` are what they were outside: in here they have no number yet.
pub(crate) fn map_own_user(user: u32, group: u32) -> Result<(), SandboxError> {
    let refused = |cause: io::Error| SandboxError::refused("its user cannot be mapped", cause);
    // Only the files in `/proc` of a process that can be dumped belong to its user.
    set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|it| refused(it.into()))?;
    let mapped = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/gid_map", format!("{group} {group} 1\n")))
        .and_then(|()| fs::write("/proc/self/uid_map", format!("{user} {user} 1\n")));
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|it| refused(it.into()))?;
    mapped.map_err(refused)
}
