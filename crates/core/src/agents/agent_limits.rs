//! The limits on agents: how many may run, how deep, and for how long.

use std::time::Duration;

/// The limits on agents of one registry.
#[derive(Clone, Copy, Debug)]
pub struct AgentLimits {
    /// The deepest nesting: 1 for agents that cannot start others.
    pub max_depth: u32,
    /// How many may run at once.
    pub max_running: u32,
    /// How long one may run.
    pub timeout: Duration,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { max_depth: 3, max_running: 16, timeout: Duration::from_hours(1) }
    }
}
