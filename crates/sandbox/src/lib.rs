//! Plans the sandbox of a call's commands: which files they cannot read or change, which hosts they can
//! reach, and how many resources they may use.
//!
//! Policy speaks of patterns and names, and a sandbox needs paths. Start at [`SandboxPlans`]: for each
//! call it makes a planner, which searches the disk for the places that rules and protected names mean,
//! up to a bound, when a command starts. The plan itself is data
//! (`toolwright_command_protocol::SandboxPlan`), which the supervisor applies.
//!
//! This crate decides nothing about a call: policy has permitted it before. A plan never opens a place
//! that the policy closes, and says what it could not enforce.

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
mod tracked_files;

pub use explanation::{ExplainedCall, SandboxExplanation};
#[cfg(not(unix))]
pub use no_sandbox_plans::SandboxPlans;
pub use permitted_call::PermittedCall;
#[cfg(unix)]
pub use sandbox_plans::SandboxPlans;
