//! The messages between a host and its supervisor, the plan of a sandbox, and how both find processes.
//!
//! The host uses it in an async runtime, the supervisor in a small program that forks. So it must not know
//! tokio, JSON, policy or any other crate of the workspace.
//!
//! The invariant: decoding returns exactly what was encoded, and truncated bytes are rejected. Host and
//! supervisor have the same version: [`HELLO`] detects another one.
//!
//! Start at [`CommandRequest`] and [`KeeperMessage`], then [`SandboxPlan`].

mod descendants;
mod placeholder;
mod protocol;
mod sandbox_plan;
mod sandbox_support;
mod shell_arguments;
mod wire;

pub use descendants::{
    SeenProcess, all_processes, below, children, descendants, inspect, inspect_if_alive, kill_all,
    kill_found, kill_strays, signal, this_process,
};
pub use placeholder::{
    PLACEHOLDER_NANOSECONDS, PLACEHOLDER_SECONDS, PLACEHOLDER_SECONDS_LATER, is_placeholder_time,
};
pub use protocol::{
    COOKIE, CommandRequest, EndReport, HELLO, KeeperMessage, MAX_CWD_BYTES, MAX_DESCRIPTORS,
    MAX_REQUEST_BYTES, ProcessIdentity, RequestKind, STOP_BYTES, cookie_of, stop_message,
};
pub use sandbox_plan::{
    CommandNetwork, HiddenPlace, LimitKind, MAX_PLAN_BYTES, MissingPlace, PlaceKind,
    ResourceLimits, SandboxLevel, SandboxPlan, WritablePlaces,
};
pub use sandbox_support::{LandlockSupport, SandboxSupport, SandboxTrouble};
pub use shell_arguments::{shell_arguments, shell_name};
