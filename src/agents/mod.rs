//! The agents of a registry: which run, how deep they are nested, and which can be resumed.
//!
//! An agent works in a session of its own, whose id is that of the agent. What the agent does is up to a
//! function of the host; nothing here knows it, or how its calls are judged.

mod agent_book;
mod agent_id;
mod agent_limits;

pub use agent_book::{AgentBook, AgentRecord, AgentRefusal, BegunAgent, NewAgent};
pub use agent_id::is_agent_id;
pub use agent_limits::AgentLimits;
