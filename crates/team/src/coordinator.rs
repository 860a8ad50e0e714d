//! The teams of a registry: which session is in which team, and which member may send what to which
//! other.

use std::{mem, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use toolwright_core::{Mail, SharedState, ToolContext, ToolOutput};

use super::{
    LEAD_NAME, MailReader, MailboxLimits, Membership, TeamError, TeamLetter, TeamMessage,
    mailbox::Mailbox,
    roster::{Roster, Seat, Team},
    team_error::MAX_NAME,
    unread,
};

/// The limits on teams.
#[derive(Clone, Copy, Debug)]
pub struct TeamLimits {
    /// How many teams may exist at the same time.
    pub teams: usize,
    /// How many members one team may have, without its lead. Members that have ended count too.
    pub members: usize,
    /// How many bytes of text one message may have.
    pub message_bytes: usize,
    /// How much may wait in one mailbox.
    pub mailbox: MailboxLimits,
}

impl Default for TeamLimits {
    fn default() -> Self {
        Self {
            teams: 100,
            members: 100,
            message_bytes: 100_000,
            mailbox: MailboxLimits { messages: 1_000, bytes: 1_000_000 },
        }
    }
}

/// A team to create.
#[derive(Clone, Debug)]
pub struct NewTeam {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: Option<String>,
}

/// An agent that joins a team.
#[derive(Clone, Debug)]
pub struct NewMember {
    /// The name of the team.
    pub team: String,
    /// The agent's name in the team.
    pub name: String,
    /// The session it runs in.
    pub session: String,
}

/// A team that was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTeam {
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: Option<String>,
}

/// A team that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedTeam {
    /// Its name.
    pub name: String,
    /// The members it had, without its lead.
    pub members: Vec<String>,
}

/// Whether a member can read a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientState {
    /// It is running.
    Running,
    /// Its agent has ended. It reads the message when it is resumed.
    Idle,
    /// It was shut down and cannot be resumed.
    ShutDown,
}

/// A message that was put into the mailboxes of all its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentLetter {
    /// The team it was sent in.
    pub team: String,
    /// The name of its sender.
    pub from: String,
    /// The recipients, by name.
    pub to: Vec<(String, RecipientState)>,
    /// The id of a shutdown request, which its answer must name.
    pub request_id: Option<String>,
}

/// The teams of a registry.
#[derive(Debug, Default)]
pub struct Teams {
    limits: TeamLimits,
    roster: Mutex<Roster>,
}

impl Mail for Teams {
    fn add_unread(&self, output: &mut ToolOutput, cx: &ToolContext) {
        unread::add_unread(self, output, cx);
    }

    fn forget(&self, session_id: &str) {
        self.end_led_by(session_id);
    }

    fn close(&self) {
        Self::close(self);
    }
}

impl Teams {
    /// The teams of a registry, for a caller that creates a team or waits for messages. The first one
    /// starts the mail; until then teams cost nothing.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "no other type is mail")]
    pub fn of(shared: &SharedState) -> Arc<Self> {
        shared.mail.get_or_start().expect("only teams send mail")
    }

    /// The teams of a registry, for a caller that needs a team that exists. Starts no mail: without it
    /// there are no teams.
    pub fn existing(shared: &SharedState) -> Arc<Self> {
        shared.mail.started_as().unwrap_or_default()
    }

    /// No teams yet, with these limits.
    pub fn new(limits: TeamLimits) -> Self {
        Self { limits, roster: Mutex::default() }
    }

    /// Creates a team that the session leads.
    pub fn create(&self, session: &str, team: NewTeam) -> Result<CreatedTeam, TeamError> {
        check_name(&team.name, "team")?;
        let mut roster = self.open_roster()?;
        if let Some(seat) = roster.seats.get(session) {
            let Seat { team, member } = seat.clone();
            return Err(TeamError::AlreadyInTeam { team, member });
        }
        if roster.teams.contains_key(&team.name) {
            return Err(TeamError::TeamExists(team.name));
        }
        if roster.teams.len() >= self.limits.teams {
            return Err(TeamError::TooMany { what: "teams", most: self.limits.teams });
        }
        let NewTeam { name, description } = team;
        roster.teams.insert(name.clone(), Team::default());
        roster.seat(&name, LEAD_NAME, session);
        Ok(CreatedTeam { name, description })
    }

    /// Adds an agent to the team when the lead starts or resumes it. If it takes the name of a member
    /// that has ended, it also gets that member's unread messages.
    pub fn join(
        self: &Arc<Self>,
        lead_session: &str,
        member: NewMember,
    ) -> Result<Membership, TeamError> {
        let NewMember { team, name, session } = member;
        check_name(&name, "member")?;
        let mut roster = self.open_roster()?;
        let lead =
            roster.seats.get(lead_session).filter(|it| it.team == team).ok_or_else(|| {
                let own = roster.seats.get(lead_session);
                TeamError::NoSuchTeam {
                    name: team.clone(),
                    known: own.map(|it| it.team.clone()).into_iter().collect(),
                }
            })?;
        lead.require_lead("start members")?;
        let Some(joined) = roster.teams.get(&team) else { return Err(TeamError::InNoTeam) };
        let present = joined.members.get(&name);
        if present.is_some_and(|it| it.state == RecipientState::Running) {
            return Err(TeamError::MemberExists { team, name });
        }
        if present.is_none() && joined.members.len() > self.limits.members {
            return Err(TeamError::TooMany { what: "members", most: self.limits.members });
        }
        let is_other = |it: &&Seat| it.team != team || it.member != name;
        if let Some(seat) = roster.seats.get(&session).filter(is_other) {
            let Seat { team, member } = seat.clone();
            return Err(TeamError::AlreadyInTeam { team, member });
        }
        let (turn, dismissed) = roster.seat(&team, &name, &session);
        Ok(Membership { teams: Arc::clone(self), team, member: name, session, turn, dismissed })
    }

    /// Returns a resumed agent to its seat in the team, if it still has one.
    pub fn rejoin(self: &Arc<Self>, session: &str) -> Option<Membership> {
        let mut roster = self.open_roster().ok()?;
        let Seat { team, member } = roster.seats.get(session)?.clone();
        let state = roster.teams.get(&team)?.members.get(&member)?.state;
        if state != RecipientState::Idle {
            return None;
        }
        let (turn, dismissed) = roster.seat(&team, &member, session);
        let session = session.to_owned();
        Some(Membership { teams: Arc::clone(self), team, member, session, turn, dismissed })
    }

    /// Puts a message into the mailboxes of all recipients, or into none.
    pub fn send(&self, session: &str, letter: TeamLetter) -> Result<SentLetter, TeamError> {
        let mut roster = self.open_roster()?;
        let seat = roster.seats.get(session).cloned().ok_or(TeamError::InNoTeam)?;
        let request_id = format!("shutdown-{}", roster.last_number + 1);
        let Some(team) = roster.teams.get(&seat.team) else { return Err(TeamError::InNoTeam) };
        let (to, body) = team.addressed(&seat, letter, &request_id)?;
        let message = Arc::new(TeamMessage {
            number: team.sent + 1,
            team: seat.team.clone(),
            from: seat.member.clone(),
            body,
        });
        if message.bytes() > self.limits.message_bytes {
            let (bytes, most) = (message.bytes(), self.limits.message_bytes);
            return Err(TeamError::TooLong { bytes, most });
        }
        let boxes = roster.mailboxes_of(team, &to);
        let is_full = |it: &&(String, Arc<Mailbox>)| !it.1.has_room(&message, self.limits.mailbox);
        let full: Vec<String> = boxes.iter().filter(is_full).map(|it| it.0.clone()).collect();
        if !full.is_empty() {
            return Err(TeamError::MailboxFull { names: full, limits: self.limits.mailbox });
        }
        for (_, mailbox) in &boxes {
            mailbox.put(Arc::clone(&message));
        }
        let request_id = roster.note_sent(&seat, &to, &message.body);
        let Some(team) = roster.teams.get(&seat.team) else { return Err(TeamError::InNoTeam) };
        let state = |name: &String| team.members.get(name).map(|it| it.state);
        let to = to.into_iter().filter_map(|it| state(&it).map(|state| (it, state))).collect();
        Ok(SentLetter { team: seat.team, from: seat.member, to, request_id })
    }

    /// Deletes the team that the session leads, if no member is running. Unread messages to members are
    /// dropped.
    pub fn delete(&self, session: &str) -> Result<DeletedTeam, TeamError> {
        let mut roster = self.open_roster()?;
        let seat = roster.seats.get(session).cloned().ok_or(TeamError::InNoTeam)?;
        seat.require_lead("end the team")?;
        let Some(team) = roster.teams.get(&seat.team) else { return Err(TeamError::InNoTeam) };
        let others = team.members.iter().filter(|(name, _)| *name != LEAD_NAME);
        let (running, ended): (Vec<_>, Vec<_>) =
            others.partition(|(_, it)| it.state == RecipientState::Running);
        if !running.is_empty() {
            let members = running.into_iter().map(|(name, _)| name.clone()).collect();
            return Err(TeamError::MembersRun { team: seat.team, members });
        }
        let members = ended.into_iter().map(|(name, _)| name.clone()).collect();
        roster.dissolve(&seat.team);
        Ok(DeletedTeam { name: seat.team, members })
    }

    /// Deletes the team that a session leads, if any. For a session that cannot do it itself any more.
    pub(crate) fn end_led_by(&self, session: &str) {
        let mut roster = self.roster.lock();
        let led = roster.seats.get(session).filter(|it| it.member == LEAD_NAME);
        if let Some(team) = led.map(|it| it.team.clone()) {
            roster.dissolve(&team);
        }
    }

    /// Reads the messages to a session as they arrive, in its present and later teams.
    pub fn reader(self: &Arc<Self>, session: &str) -> MailReader {
        let mut roster = self.roster.lock();
        let closed = roster.closed;
        let mailbox = Arc::clone(roster.mailboxes.entry(session.to_owned()).or_default());
        if closed {
            roster.mailboxes.remove(session);
            mailbox.close();
        }
        MailReader::new(mailbox, session.to_owned(), Arc::downgrade(self))
    }

    /// Takes unread messages to a session, starting with the oldest, while `is_wanted` returns true.
    /// Takes none if the session has a reader. Also returns how many are left.
    pub(crate) fn take_unread(
        &self,
        session: &str,
        is_wanted: impl FnMut(&TeamMessage) -> bool,
    ) -> (Vec<Arc<TeamMessage>>, usize) {
        let mailbox = self.roster.lock().mailboxes.get(session).cloned();
        let Some(mailbox) = mailbox else { return (Vec::new(), 0) };
        let (taken, left) = mailbox.take_unread(is_wanted);
        if !taken.is_empty() {
            self.forget_unused_mailbox(session);
        }
        (taken, left)
    }

    /// Deletes all teams at once.
    pub fn close(&self) {
        let mut roster = self.roster.lock();
        roster.closed = true;
        let names: Vec<String> = roster.teams.keys().cloned().collect();
        for name in names {
            roster.dissolve(&name);
        }
        for mailbox in mem::take(&mut roster.mailboxes).into_values() {
            mailbox.clear();
            mailbox.close();
        }
    }

    pub(super) fn leave(&self, team: &str, name: &str, turn: u64) {
        let mut roster = self.roster.lock();
        let members = roster.teams.get_mut(team).map(|it| &mut it.members);
        let member = members.and_then(|it| it.get_mut(name)).filter(|it| it.turn == turn);
        let Some(member) = member else { return };
        if member.state == RecipientState::Running {
            member.state = RecipientState::Idle;
        }
    }

    /// Drops the mailbox of a session that is in no team, has no reader and has no messages.
    pub(super) fn forget_unused_mailbox(&self, session: &str) {
        let mut roster = self.roster.lock();
        if !roster.seats.contains_key(session)
            && roster.mailboxes.get(session).is_some_and(|it| it.is_unused())
        {
            roster.mailboxes.remove(session);
        }
    }

    /// True when no team, seat or mailbox is left.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let roster = self.roster.lock();
        roster.teams.is_empty() && roster.seats.is_empty() && roster.mailboxes.is_empty()
    }

    fn open_roster(&self) -> Result<MutexGuard<'_, Roster>, TeamError> {
        let roster = self.roster.lock();
        if roster.closed { Err(TeamError::Closed) } else { Ok(roster) }
    }
}

fn check_name(name: &str, of: &'static str) -> Result<(), TeamError> {
    let is_sign = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    if (1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(is_sign) {
        return Ok(());
    }
    Err(TeamError::InvalidName { name: name.to_owned(), of })
}
