//! Why a team could not be made, joined, written to or ended.

use super::{LEAD_NAME, MailboxLimits};

/// The longest name of a team or a member, in characters.
pub(super) const MAX_NAME: usize = 64;

/// Why the coordinator refused something. Nothing was changed then, and nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// A name that cannot be used.
    #[error(
        "`{}` cannot be the name of a {of}: use 1 to {MAX_NAME} letters, digits, `_`, `-` or `.`",
        clipped(name)
    )]
    InvalidName {
        /// The name.
        name: String,
        /// What it would name.
        of: &'static str,
    },
    /// Another team has the name.
    #[error("there is a team named `{0}` already; choose another name")]
    TeamExists(String),
    /// No team has the name.
    #[error("there is no team named `{}`; {}", clipped(name), listed("teams", known))]
    NoSuchTeam {
        /// The name.
        name: String,
        /// The teams that the session may mean.
        known: Vec<String>,
    },
    /// The session belongs to a team already.
    #[error(
        "you are `{member}` of the team `{team}`, and nobody is in two teams; end that team first"
    )]
    AlreadyInTeam {
        /// The team.
        team: String,
        /// Its name there.
        member: String,
    },
    /// The session belongs to no team.
    #[error("you are in no team; make one first")]
    InNoTeam,
    /// Only the lead may do this.
    #[error("only `{LEAD_NAME}` may {what}, and you are `{member}`")]
    NotLead {
        /// What it was.
        what: &'static str,
        /// The name of the session in its team.
        member: String,
    },
    /// A running member has the name.
    #[error("the team `{team}` has a member named `{name}` already; choose another name")]
    MemberExists {
        /// The team.
        team: String,
        /// The name.
        name: String,
    },
    /// No member has the name.
    #[error(
        "the team `{team}` has no member named `{}`; {}",
        clipped(name),
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
    #[error("`{0}` has been shut down and receives nothing any more")]
    ShutDown(String),
    /// A message to oneself.
    #[error("you are `{0}` yourself; write to another member")]
    ToOneself(String),
    /// The sender is alone in its team.
    #[error("the team `{0}` has no other members to write to")]
    NobodyElse(String),
    /// No such request waits for an answer of this member.
    #[error(
        "no shutdown request `{}` waits for your answer; {}",
        clipped(id),
        listed("requests", known)
    )]
    NoSuchRequest {
        /// The id.
        id: String,
        /// The requests that do.
        known: Vec<String>,
    },
    /// Mailboxes that the message does not fit into.
    #[error(
        "nothing was sent: the mailbox of {} is full (at most {} messages and {} bytes wait there); \
         try again when messages were read",
        quoted(names), limits.messages, limits.bytes
    )]
    MailboxFull {
        /// Whose mailboxes they are.
        names: Vec<String>,
        /// What fits into each.
        limits: MailboxLimits,
    },
    /// A message that is too long.
    #[error("the message has {bytes} bytes, and at most {most} are sent; shorten it")]
    TooLong {
        /// The length.
        bytes: usize,
        /// The longest that is sent.
        most: usize,
    },
    /// Members still run.
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
    /// There are as many teams, or members, as there may be.
    #[error("there are {most} {what} already, which is the limit; end one first")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// The registry was closed.
    #[error("the registry was closed")]
    Closed,
}

/// A name as it was given, of which a reader needs no more than of the longest that there can be.
fn clipped(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
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
