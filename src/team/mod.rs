//! Teams of agents in one process: who belongs to which team, and the messages they send each other.
//!
//! A session makes a team and leads it; agents that it starts join. Each session has one mailbox, bounded in
//! number and size of messages. Everything changes under one lock, so that the messages from one member to
//! another arrive in the order in which they were sent, each once. Nothing here starts an agent or knows
//! what a tool is.

mod coordinator;
mod mailbox;
mod membership;
mod message;
mod roster;
mod team_error;
#[cfg(test)]
mod tests;

pub use coordinator::{
    CreatedTeam, DeletedTeam, NewMember, NewTeam, RecipientState, SentLetter, TeamLimits, Teams,
};
pub use mailbox::{MailReader, MailboxLimits};
pub use membership::Membership;
pub use message::{MessageBody, TeamLetter, TeamMessage};
pub use team_error::TeamError;

/// The name of the session that made the team.
pub const LEAD_NAME: &str = "team-lead";
