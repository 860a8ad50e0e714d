//! The sandbox of a command: its namespaces, its mounts and its restrictions.
//!
//! A spare forks PID 1 of the namespaces ahead of time ([`namespaces`]). PID 1 prepares what every
//! command needs ([`base_mounts`], [`kernel_objects`]), mounts the plan that most commands have ([`foreseen_plan`]) and
//! waits. When a command arrives, PID 1 mounts the missing parts of its plan ([`plan_mounts`]),
//! starts the shell with few capabilities ([`capabilities`]) and the other restrictions
//! ([`restrictions`]), and reaps the processes of the command ([`init`]). The keeper stays outside
//! and receives messages over a socket ([`init_link`]).
//!
//! A sandbox is made for one plan. It is reused for the next command with the same plan if all
//! processes of the previous command have ended and PID 1 is unchanged ([`init_traits`]). A command
//! cannot mount anything, so only its processes could outlive it in the sandbox.

pub(crate) mod base_mounts;
pub(crate) mod capabilities;
pub(crate) mod cgroup;
pub(crate) mod daemon_sockets;
pub(crate) mod foreseen_plan;
pub(crate) mod init;
pub(crate) mod init_link;
pub(crate) mod init_traits;
pub(crate) mod kept_placeholders;
pub(crate) mod kernel_objects;
pub(crate) mod landlock;
pub(crate) mod limits;
pub(crate) mod mount_calls;
pub(crate) mod mount_numbers;
pub(crate) mod namespaces;
pub(crate) mod network;
pub(crate) mod pins;
pub(crate) mod placeholders;
pub(crate) mod plan_mounts;
pub(crate) mod probe;
pub(crate) mod restrictions;
pub(crate) mod seccomp;

use toolwright_command_protocol::{CommandNetwork, SandboxPlan, WritablePlaces};

pub(crate) use restrictions::Restrictions;

/// True for a plan that restricts neither files nor network, such as the plan of hooks.
pub(crate) fn is_unrestricted(plan: &SandboxPlan) -> bool {
    plan.hidden.is_empty()
        && plan.read_only.is_empty()
        && plan.missing.is_empty()
        && plan.writable == WritablePlaces::Everywhere
        && plan.network == CommandNetwork::Open
}

/// Why a sandbox could not be made. The host shows this text to the caller.
#[derive(Debug)]
pub(crate) struct SandboxError(pub(crate) String);

impl SandboxError {
    /// An operation that the system refused, with its cause.
    pub(crate) fn refused(what: &str, cause: impl Into<std::io::Error>) -> Self {
        Self(format!("{what}: {}", cause.into()))
    }
}
