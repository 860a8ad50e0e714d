//! The sandbox of a command: the kernel enforces which files it cannot read or change, which hosts
//! it can reach, and how many resources it may use.
//!
//! A [`SandboxPlan`] is a list of paths and numbers. The code that makes a plan knows the policy.
//! The supervisor, which applies it, does not.

mod applied;
mod network_proxy;
mod settings;

pub use applied::AppliedSandbox;
pub use network_proxy::{ProxyStarter, RunningProxy};
pub use settings::{
    SandboxMode, SandboxNetwork, SandboxRefusal, SandboxSettings, SandboxShare, SandboxWrites,
};
