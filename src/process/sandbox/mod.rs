//! What the kernel holds a command to: which files it cannot read or change, whom it can reach, and how much
//! it may use.
//!
//! A [`SandboxPlan`] is a list of places and numbers. Whoever makes one knows the policy; whoever applies one
//! (the supervisor) does not.

mod door;
mod placeholder;
mod plan;
#[cfg(unix)]
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod plan_wire;
mod settings;
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod support;
mod told;

pub(crate) use door::{CommandDoor, OpenDoor};
pub(crate) use placeholder::is_placeholder_time;
pub(crate) use plan::{
    CommandNetwork, HiddenPlace, LimitKind, MissingPlace, PlaceKind, ResourceLimits, SandboxLevel,
    SandboxPlan, WritablePlaces,
};
#[cfg(unix)]
pub(crate) use plan_wire::MAX_PLAN_BYTES;
pub(crate) use settings::SandboxRefusal;
pub use settings::{SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites};
pub(crate) use support::SandboxSupport;
pub(crate) use told::AppliedSandbox;
