//! Plans the sandbox of a call's commands: which files they cannot read or change, which hosts they can
//! reach, and how many resources they may use.
//!
//! Policy has patterns and names, but a sandbox needs paths. For each call, [`SandboxPlans`] makes a planner,
//! which searches the disk for these paths, up to a bound, when a command starts. The plan itself is data
//! (`toolwright_command_protocol::SandboxPlan`), which the supervisor applies.
//!
//! It decides nothing about a call, which policy has permitted before, and must not know how a sandbox is
//! applied.
//!
//! The invariant: a plan never opens a place that policy denies, and says what it could not enforce.
//!
//! Start at [`SandboxPlans`], then `plan_builder`.

mod explanation;
#[cfg(unix)]
mod git_places;
#[cfg(not(unix))]
mod no_sandbox_plans;
#[cfg(unix)]
mod opened_places;
mod permitted_call;
#[cfg(unix)]
mod place_finder;
#[cfg(unix)]
mod plan_builder;
#[cfg(unix)]
mod protected_places;
#[cfg(unix)]
mod proxy_starter;
#[cfg(unix)]
mod sandbox_plans;
#[cfg(unix)]
mod shared_memory;
#[cfg(unix)]
mod tracked_files;

pub use explanation::{ExplainedCall, SandboxExplanation};
#[cfg(not(unix))]
pub use no_sandbox_plans::SandboxPlans;
pub use permitted_call::PermittedCall;
#[cfg(unix)]
pub use sandbox_plans::SandboxPlans;
