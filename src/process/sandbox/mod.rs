//! What the kernel holds a command to: which files it cannot read or change, whom it can reach, and how much
//! it may use.
//!
//! A [`SandboxPlan`] is a list of places and numbers. Whoever makes one knows the policy; whoever applies one
//! (the supervisor) does not.

mod plan;
mod settings;
mod support;

pub(crate) use plan::{
    CommandNetwork, HiddenPlace, MissingPlace, PlaceKind, ResourceLimits, SandboxLevel,
    SandboxPlan, WritablePlaces,
};
pub(crate) use settings::SandboxRefusal;
pub use settings::{SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites};
pub(crate) use support::{LandlockSupport, SandboxSupport};
