//! The sandbox of a command: the namespaces that it runs in, what it finds mounted there, and what it is
//! restricted to.
//!
//! A spare forks a process 1 for the namespaces ahead of time ([`namespaces`]). It prepares what every command
//! needs ([`base_mounts`]), mounts the plan that most commands have ([`foreseen_plan`]) and waits. Once a command
//! comes, it mounts what is missing of its plan ([`plan_mounts`]), starts the shell with few capabilities
//! ([`capabilities`]) and with what else restricts it ([`restrictions`]), and reaps what the command leaves behind
//! ([`init`]). The keeper stays outside and hears from it over a socket ([`init_link`]).
//!
//! A sandbox is made for one plan. When all processes of a command have ended and it has left process 1 as it was
//! ([`init_traits`]), the sandbox is as good as new: the next command with the same plan can have it. Nothing of a
//! command but its processes can stay in a sandbox, because it cannot mount anything.

pub(crate) mod base_mounts;
pub(crate) mod capabilities;
pub(crate) mod cgroup;
pub(crate) mod daemon_sockets;
pub(crate) mod foreseen_plan;
pub(crate) mod init;
pub(crate) mod init_link;
pub(crate) mod init_traits;
pub(crate) mod kept_placeholders;
pub(crate) mod landlock;
pub(crate) mod limits;
pub(crate) mod mount_calls;
pub(crate) mod mount_numbers;
pub(crate) mod namespaces;
pub(crate) mod network;
pub(crate) mod pins;
#[path = "../../process/sandbox/placeholder.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
mod placeholder;
pub(crate) mod placeholders;
#[path = "../../process/sandbox/plan.rs"]
mod plan;
pub(crate) mod plan_mounts;
#[path = "../../process/sandbox/plan_wire.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
mod plan_wire;
pub(crate) mod probe;
pub(crate) mod restrictions;
pub(crate) mod seccomp;
#[path = "../../process/sandbox/support.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
mod support;

pub(crate) use plan::{
    CommandNetwork, LimitKind, MissingPlace, PlaceKind, SandboxLevel, SandboxPlan, WritablePlaces,
};
pub(crate) use plan_wire::MAX_PLAN_BYTES;
pub(crate) use restrictions::Restrictions;

/// True for a plan that leaves files and network as they are, as that of hooks does.
pub(crate) fn holds_nothing(plan: &SandboxPlan) -> bool {
    plan.hidden.is_empty()
        && plan.read_only.is_empty()
        && plan.missing.is_empty()
        && plan.writable == WritablePlaces::Everywhere
        && plan.network == CommandNetwork::Open
}

/// Why a sandbox could not be made, as the host tells it.
#[derive(Debug)]
pub(crate) struct SandboxError(pub(crate) String);

impl SandboxError {
    /// Something that the system refused.
    pub(crate) fn refused(what: &str, cause: impl Into<std::io::Error>) -> Self {
        Self(format!("{what}: {}", cause.into()))
    }
}
