//! The agents of a registry: which run, how deep they are nested, and which can be resumed.
//!
//! An agent works in its own session, whose id is the agent's id. The agent's work is done by a
//! function of the host. This module knows neither that function nor how the agent's calls are judged.

mod agent_book;
mod agent_id;
mod agent_limits;

pub(crate) use agent_book::{AgentBook, AgentRefusal};
pub use agent_book::{AgentRecord, BegunAgent, NewAgent};
pub use agent_id::is_agent_id;
pub use agent_limits::AgentLimits;
