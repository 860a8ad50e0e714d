//! The seat of a running agent in a team.

use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{MailReader, Teams};

/// The seat of an agent in a team while it runs. Dropping it reports that the agent has ended. The
/// agent keeps its mailbox and continues to read when it is resumed, unless it was shut down.
pub struct Membership {
    pub(super) teams: Arc<Teams>,
    pub(super) team: String,
    pub(super) member: String,
    pub(super) session: String,
    pub(super) turn: u64,
    /// Cancelled when the agent agrees to shut down, its team is deleted, or the registry closes.
    pub dismissed: CancellationToken,
}

impl Membership {
    /// The name of the team.
    pub fn team(&self) -> &str {
        &self.team
    }

    /// The name of the agent in the team.
    pub fn member(&self) -> &str {
        &self.member
    }

    /// Reads the messages to the agent as they arrive. Without a reader, they are added to the results
    /// of its calls.
    pub fn reader(&self) -> MailReader {
        self.teams.reader(&self.session)
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.member, self.team)
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.teams.leave(&self.team, &self.member, self.turn);
    }
}
