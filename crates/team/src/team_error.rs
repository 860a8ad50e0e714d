//! Why a team could not be created, joined, written to or deleted.

use toolwright_base::{ErrorKind, ToolError, shortened};
use toolwright_core::EngineError;

use super::{LEAD_NAME, MailboxLimits};

/// The longest name of a team or a member, in characters.
pub(super) const MAX_NAME: usize = 64;

/// Why the coordinator refused a request. Nothing was changed or sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// A name that cannot be used.
    #[error(
        "`{}` cannot be the name of a {of}: use 1 to {MAX_NAME} letters, digits, `_`, `-` or `.`",
        shortened(name, MAX_NAME)
    )]
    InvalidName {
        /// The name.
        name: String,
        /// What it would name.
        of: &'static str,
    },
    /// Another team already has this name.
    #[error("there is a team named `{0}` already; choose another name")]
    TeamExists(String),
    /// No team has this name.
    #[error("there is no team named `{}`; {}", shortened(name, MAX_NAME), listed("teams", known))]
    NoSuchTeam {
        /// The name.
        name: String,
        /// The team of the session, if it is in one.
        known: Vec<String>,
    },
    /// The session already belongs to a team.
    #[error(
        "you are `{member}` of the team `{team}`, and a member can be in only one team; end that team first"
    )]
    AlreadyInTeam {
        /// The team.
        team: String,
        /// The session's name in it.
        member: String,
    },
    /// The session belongs to no team.
    #[error("you are in no team; make one first")]
    InNoTeam,
    /// Only the lead may do this.
    #[error("only `{LEAD_NAME}` may {what}, and you are `{member}`")]
    NotLead {
        /// What only the lead may do.
        what: &'static str,
        /// The name of the session in its team.
        member: String,
    },
    /// A running member already has this name.
    #[error("the team `{team}` has a member named `{name}` already; choose another name")]
    MemberExists {
        /// The team.
        team: String,
        /// The name.
        name: String,
    },
    /// No member has this name.
    #[error(
        "the team `{team}` has no member named `{}`; {}",
        shortened(name, MAX_NAME),
        listed("members", known)
    )]
    NoSuchMember {
        /// The team.
        team: String,
        /// The name.
        name: String,
        /// The other members.
        known: Vec<String>,
    },
    /// The member has been shut down.
    #[error("`{0}` has been shut down and receives no more messages")]
    ShutDown(String),
    /// The recipient is the sender.
    #[error("you are `{0}` yourself; write to another member")]
    ToOneself(String),
    /// The team has no other members.
    #[error("the team `{0}` has no other members to write to")]
    NoOtherMembers(String),
    /// No shutdown request with this id waits for an answer from this member.
    #[error(
        "no shutdown request `{}` waits for your answer; {}",
        shortened(id, MAX_NAME),
        listed("requests", known)
    )]
    NoSuchRequest {
        /// The id.
        id: String,
        /// The request that waits, if any.
        known: Vec<String>,
    },
    /// The message does not fit into some mailboxes.
    #[error(
        "nothing was sent: the mailbox of {} is full (at most {} messages and {} bytes wait there); \
         try again when messages were read",
        quoted(names), limits.messages, limits.bytes
    )]
    MailboxFull {
        /// The members with full mailboxes.
        names: Vec<String>,
        /// The limits of each mailbox.
        limits: MailboxLimits,
    },
    /// The message is too long.
    #[error("the message has {bytes} bytes, and at most {most} are sent; shorten it")]
    TooLong {
        /// The length.
        bytes: usize,
        /// The most bytes that are sent.
        most: usize,
    },
    /// Members are still running.
    #[error(
        "the team `{team}` still has running members: {}; ask each to end with a shutdown request, or stop it",
        quoted(members)
    )]
    MembersRun {
        /// The team.
        team: String,
        /// Their names.
        members: Vec<String>,
    },
    /// The limit of teams or members is reached.
    #[error("there are {most} {what} already, which is the limit; end one first")]
    TooMany {
        /// What has reached its limit.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The registry was closed.
    #[error("the registry was closed")]
    Closed,
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

fn listed(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        format!("there are no {what}")
    } else {
        format!("{what}: {}", quoted(names))
    }
}

impl EngineError for TeamError {
    fn into_tool_error(self) -> ToolError {
        let kind = match &self {
            Self::InvalidName { .. } | Self::TooLong { .. } => ErrorKind::Validation,
            Self::Closed => ErrorKind::RegistryClosed,
            _ => ErrorKind::Team,
        };
        ToolError::new(kind, self.to_string())
    }
}
