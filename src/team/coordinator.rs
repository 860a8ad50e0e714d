//! The teams of a registry: who is in which, and who may send what to whom.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    LEAD_NAME, MailReader, MailboxLimits, Membership, TeamError, TeamLetter, TeamMessage,
    mailbox::Mailbox,
    roster::{Roster, Seat, Team},
    team_error::MAX_NAME,
};

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub struct TeamLimits {
    /// How many teams at a time.
    pub teams: usize,
    /// How many members one team may have had, without its lead.
    pub members: usize,
    /// How many bytes of texts one message may have.
    pub message_bytes: usize,
    /// What may wait in one mailbox.
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

/// A team to be made.
#[derive(Clone, Debug)]
pub struct NewTeam {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
}

/// An agent that is to join a team.
#[derive(Clone, Debug)]
pub struct NewMember {
    /// The name of the team.
    pub team: String,
    /// The name that the agent has there.
    pub name: String,
    /// The session in which it runs.
    pub session: String,
}

/// A team that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTeam {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
}

/// A team that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedTeam {
    /// Its name.
    pub name: String,
    /// The members that it had, without its lead.
    pub members: Vec<String>,
}

/// Whether a member can read a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientState {
    /// It runs.
    Running,
    /// Its agent has ended. It reads the message when it is resumed.
    Idle,
    /// It has ended for good.
    ShutDown,
}

/// A message that is in every mailbox it was meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentLetter {
    /// The team that it was sent in.
    pub team: String,
    /// The name of its sender.
    pub from: String,
    /// Who gets it, by name.
    pub to: Vec<(String, RecipientState)>,
    /// The id of a shutdown request, which its answer has to name.
    pub request_id: Option<String>,
}

/// The teams of a registry.
#[derive(Debug, Default)]
pub struct Teams {
    limits: TeamLimits,
    roster: Mutex<Roster>,
}

impl Teams {
    /// No teams yet, with these limits.
    pub fn new(limits: TeamLimits) -> Self {
        Self { limits, roster: Mutex::default() }
    }

    fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a team that the session leads.
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

    /// Gives an agent that the lead starts, or resumes, its place in the team. An agent that takes the name
    /// of one that has ended also gets the messages that the other has not read.
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

    /// Gives an agent that is resumed the place that it had when it ended, if it still has one.
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

    /// Puts a message into the mailboxes of all whom it is for, or into none.
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

    /// Ends the team that the session leads, once no member runs. Messages to members that they have not
    /// read are dropped.
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

    /// Ends the team of a session that will never end it itself, if it leads one.
    pub fn end_led_by(&self, session: &str) {
        let mut roster = self.roster();
        let led = roster.seats.get(session).filter(|it| it.member == LEAD_NAME);
        if let Some(team) = led.map(|it| it.team.clone()) {
            roster.dissolve(&team);
        }
    }

    /// Reads the messages to a session as they come, in whichever team it is or will be.
    pub fn reader(self: &Arc<Self>, session: &str) -> MailReader {
        let mut roster = self.roster();
        let closed = roster.closed;
        let mailbox = Arc::clone(roster.mailboxes.entry(session.to_owned()).or_default());
        if closed {
            roster.mailboxes.remove(session);
            mailbox.close();
        }
        MailReader::new(mailbox, session.to_owned(), Arc::downgrade(self))
    }

    /// Takes unread messages to a session from the first on, for as long as they are wanted, unless it has a
    /// reader. Also says how many are left.
    pub fn take_unread(
        &self,
        session: &str,
        is_wanted: impl FnMut(&TeamMessage) -> bool,
    ) -> (Vec<Arc<TeamMessage>>, usize) {
        let mailbox = self.roster().mailboxes.get(session).cloned();
        let Some(mailbox) = mailbox else { return (Vec::new(), 0) };
        let taken = mailbox.take_unread(is_wanted);
        self.forget_unused_mailbox(session);
        taken
    }

    /// Ends every team at once.
    pub fn close(&self) {
        let mut roster = self.roster();
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
        let mut roster = self.roster();
        let members = roster.teams.get_mut(team).map(|it| &mut it.members);
        let member = members.and_then(|it| it.get_mut(name)).filter(|it| it.turn == turn);
        let Some(member) = member else { return };
        if member.state == RecipientState::Running {
            member.state = RecipientState::Idle;
        }
    }

    /// Drops the mailbox of a session that nobody writes to and nobody reads.
    pub(super) fn forget_unused_mailbox(&self, session: &str) {
        let mut roster = self.roster();
        if !roster.seats.contains_key(session)
            && roster.mailboxes.get(session).is_some_and(|it| it.is_unused())
        {
            roster.mailboxes.remove(session);
        }
    }

    /// True when nothing of any team is left.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let roster = self.roster();
        roster.teams.is_empty() && roster.seats.is_empty() && roster.mailboxes.is_empty()
    }

    fn open_roster(&self) -> Result<MutexGuard<'_, Roster>, TeamError> {
        let roster = self.roster();
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
