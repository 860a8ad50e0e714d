//! Teams of agents in one process: which session belongs to which team, and the messages between them.
//!
//! A session creates a team and leads it; agents that it starts join. Each session has one mailbox, bounded
//! in number and size of messages. This crate must not know tools, and does not start agents.
//!
//! The invariant: the messages from one member to another arrive in the order in which they were sent, each
//! once, because all state changes under one lock.
//!
//! Start at [`Teams`].

mod coordinator;
mod mailbox;
mod membership;
mod message;
mod roster;
mod team_error;
#[cfg(test)]
mod tests;
mod unread;

pub use coordinator::{NewMember, NewTeam, RecipientState, SentLetter, Teams};
pub use mailbox::MailReader;
pub(crate) use mailbox::MailboxLimits;
pub use membership::Membership;
pub use message::{MessageBody, TeamLetter, TeamMessage};
pub use team_error::TeamError;

/// The member name of the session that created the team.
pub const LEAD_NAME: &str = "team-lead";
