//! What a shell is restricted by before its program runs, apart from namespaces: limits, a cgroup, Landlock's
//! rules and a filter of system calls.
//!
//! Everything that takes memory is done beforehand. The new process, which still shares the memory of the
//! old one, only makes system calls.

use std::{io, os::fd::OwnedFd};

use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::BpfProgram;

use super::{
    capabilities::KeptCapabilities,
    cgroup::CommandGroup,
    landlock,
    limits::{self, HeldLimits},
    plan::{CommandNetwork, SandboxLevel, SandboxPlan},
    seccomp,
};
use crate::system_calls;

/// Everything that a process does to itself before it runs the program of a command.
#[derive(Default)]
pub(crate) struct Restrictions {
    limits: Vec<(Resource, Rlimit)>,
    group: Option<OwnedFd>,
    rules: Option<OwnedFd>,
    filter: Option<BpfProgram>,
    no_new_privileges: bool,
    /// What it keeps of the capabilities that process 1 of a sandbox has.
    pub(crate) capabilities: Option<KeptCapabilities>,
}

impl Restrictions {
    /// Prepares what a plan asks for. `held` has the cgroup, if there is one. Process 1 of a sandbox in
    /// namespaces is in it already.
    pub(crate) fn of(plan: &SandboxPlan, held: &HeldLimits) -> io::Result<Self> {
        let is_landlock = plan.level == SandboxLevel::Landlock;
        let is_closed = plan.network != CommandNetwork::Open;
        Ok(Self {
            limits: limits::process_limits(&plan.limits, plan.level, held.holds_memory),
            group: held.group().map(CommandGroup::entrance).transpose()?,
            rules: if is_landlock { landlock::ruleset(plan)? } else { None },
            filter: match plan.level {
                SandboxLevel::Landlock if is_closed => Some(seccomp::without_network()?),
                SandboxLevel::Namespaces if is_closed => Some(seccomp::within_network()?),
                _ => None,
            },
            no_new_privileges: is_landlock,
            capabilities: None,
        })
    }

    /// Restricts this process, and all that it starts, for good. Takes no memory and no lock.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if let Some(group) = &self.group {
            rustix::io::write(group, b"0")?;
        }
        for (resource, limit) in &self.limits {
            setrlimit(*resource, *limit)?;
        }
        if let Some(kept) = self.capabilities {
            kept.keep_alone()?;
        }
        if self.no_new_privileges {
            rustix::thread::set_no_new_privs(true)?;
        }
        if let Some(rules) = &self.rules {
            system_calls::restrict_by_landlock(rules)?;
        }
        if let Some(filter) = &self.filter {
            // Its error would take memory; the kernel's number says the same.
            seccompiler::apply_filter(filter).map_err(|_| io::Error::last_os_error())?;
        }
        Ok(())
    }
}
