//! The limits for every call of every tool.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_core::AgentLimits;

/// Bounds a host can set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// How long a call may run, in milliseconds, if the tool does not set its own limit.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub call_timeout_ms: u32,
    /// How long a person has to answer a confirmation request, in milliseconds.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub confirmation_timeout_ms: u32,
    /// How long the user has to answer the questions of a call, in milliseconds.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub question_timeout_ms: u32,
    /// How deep agents may be nested; 0 for no agents.
    #[schemars(range(max = 32))]
    pub max_agent_depth: u32,
    /// How many agents may run at once.
    #[schemars(range(max = 200))]
    pub max_agents: u32,
    /// How long an agent may run, in milliseconds.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub agent_timeout_ms: u32,
    /// How many bytes of text one answer may hold.
    #[schemars(range(min = 1_000, max = 1_000_000_000))]
    pub max_result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let agents = AgentLimits::default();
        Self {
            call_timeout_ms: 600_000,
            confirmation_timeout_ms: 60_000,
            question_timeout_ms: 600_000,
            max_agent_depth: agents.max_depth,
            max_agents: agents.max_running,
            agent_timeout_ms: u32::try_from(agents.timeout.as_millis()).unwrap_or(u32::MAX),
            max_result_bytes: 4 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// The time limit of questions to the user.
    pub(crate) fn question_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.question_timeout_ms))
    }

    /// The limits on agents.
    pub fn of_agents(&self) -> AgentLimits {
        AgentLimits {
            max_depth: self.max_agent_depth,
            max_running: self.max_agents,
            timeout: Duration::from_millis(u64::from(self.agent_timeout_ms)),
        }
    }

    /// The time limit of one call.
    pub(crate) fn call_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.call_timeout_ms))
    }
}
