//! Restrictions on a shell apart from namespaces: limits, a cgroup, Landlock rules and a filter of
//! system calls. They are applied before its program is executed.
//!
//! Everything that allocates memory is done beforehand. The new process still shares the memory of
//! its parent, so it only makes system calls.

use std::{io, os::fd::OwnedFd};

use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::BpfProgram;
use toolwright_command_protocol::{CommandNetwork, SandboxLevel, SandboxPlan};

use super::{
    capabilities::KeptCapabilities,
    cgroup::CommandGroup,
    landlock,
    limits::{self, CommandLimits},
    seccomp,
};
use crate::system_calls;

/// Everything that a process applies to itself before it executes the program of a command.
#[derive(Default)]
pub(crate) struct Restrictions {
    limits: Vec<(Resource, Rlimit)>,
    group: Option<OwnedFd>,
    rules: Option<OwnedFd>,
    filter: Option<BpfProgram>,
    no_new_privileges: bool,
    /// The capabilities to keep, for a child of PID 1 of a sandbox.
    pub(crate) capabilities: Option<KeptCapabilities>,
}

impl Restrictions {
    /// Prepares the restrictions of a plan. `command_limits` has the cgroup, if there is one. PID 1
    /// of a sandbox in namespaces is already in it.
    pub(crate) fn of(plan: &SandboxPlan, command_limits: &CommandLimits) -> io::Result<Self> {
        let is_landlock = plan.level == SandboxLevel::Landlock;
        let is_closed = plan.network != CommandNetwork::Open;
        Ok(Self {
            limits: limits::process_limits(
                &plan.limits,
                plan.level,
                command_limits.group_limits_memory,
            ),
            group: command_limits.group().map(CommandGroup::entrance).transpose()?,
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

    /// Restricts this process and its children, for good. Allocates no memory and takes no lock.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if let Some(group) = &self.group {
            rustix::io::write(group, b"0")?;
        }
        for (resource, limit) in &self.limits {
            setrlimit(*resource, *limit)?;
        }
        if let Some(kept) = self.capabilities {
            kept.drop_others()?;
        }
        if self.no_new_privileges {
            rustix::thread::set_no_new_privs(true)?;
        }
        if let Some(rules) = &self.rules {
            system_calls::restrict_by_landlock(rules)?;
        }
        if let Some(filter) = &self.filter {
            // Its own error type would allocate memory. The error number says the same.
            seccompiler::apply_filter(filter).map_err(|_| io::Error::last_os_error())?;
        }
        Ok(())
    }
}
