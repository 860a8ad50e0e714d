//! The teams of a registry: who is in which, and who may send what to whom.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use super::{
    LEAD_NAME, MailReader, MailboxLimits, Membership, MessageBody, TeamError, TeamLetter,
    TeamMessage, mailbox::Mailbox, team_error::MAX_NAME,
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

#[derive(Debug, Default)]
struct Roster {
    teams: BTreeMap<String, Team>,
    /// session → its place in a team.
    seats: HashMap<String, Seat>,
    /// session → its messages. A session without a seat has one while somebody reads it, or until it is empty.
    mailboxes: HashMap<String, Arc<Mailbox>>,
    /// Counts joined agents and shutdown requests.
    last_number: u64,
    closed: bool,
}

#[derive(Clone, Debug)]
struct Seat {
    team: String,
    member: String,
}

#[derive(Debug, Default)]
struct Team {
    members: BTreeMap<String, TeamMember>,
    /// How many messages were sent.
    sent: u64,
    /// member → the shutdown request that it has not answered.
    requests: BTreeMap<String, String>,
}

#[derive(Debug)]
struct TeamMember {
    session: String,
    state: RecipientState,
    /// Tells a later run of the same agent from an earlier one that ends only now.
    turn: u64,
    dismissed: CancellationToken,
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

impl Seat {
    fn require_lead(&self, what: &'static str) -> Result<(), TeamError> {
        if self.member == LEAD_NAME {
            return Ok(());
        }
        Err(TeamError::NotLead { what, member: self.member.clone() })
    }
}

impl Roster {
    /// Gives a session a place in a team, and the mailbox that goes with it.
    fn seat(&mut self, team: &str, name: &str, session: &str) -> (u64, CancellationToken) {
        self.last_number += 1;
        let turn = self.last_number;
        let dismissed = CancellationToken::new();
        let member = TeamMember {
            session: session.to_owned(),
            state: RecipientState::Running,
            turn,
            dismissed: dismissed.clone(),
        };
        let joined = self.teams.entry(team.to_owned()).or_default();
        joined.requests.remove(name);
        let before = joined.members.insert(name.to_owned(), member);
        let was_shut_down = before.as_ref().is_some_and(|it| it.state == RecipientState::ShutDown);
        if was_shut_down {
            self.mailboxes.remove(session);
        }
        let mailbox = Arc::clone(self.mailboxes.entry(session.to_owned()).or_default());
        if let Some(before) = before.filter(|it| !was_shut_down && it.session != session) {
            self.seats.remove(&before.session);
            if let Some(old) = self.mailboxes.remove(&before.session) {
                old.hand_over(&mailbox);
            }
        }
        let seat = Seat { team: team.to_owned(), member: name.to_owned() };
        self.seats.insert(session.to_owned(), seat);
        (turn, dismissed)
    }

    fn mailboxes_of(&self, team: &Team, names: &[String]) -> Vec<(String, Arc<Mailbox>)> {
        let mailbox = |name: &String| {
            let mailbox = self.mailboxes.get(&team.members.get(name)?.session)?;
            Some((name.clone(), Arc::clone(mailbox)))
        };
        names.iter().filter_map(mailbox).collect()
    }

    /// Changes what a message changes. Gives the id of a shutdown request that waits for its answer.
    fn note_sent(&mut self, from: &Seat, to: &[String], body: &MessageBody) -> Option<String> {
        let team = self.teams.get_mut(&from.team)?;
        team.sent += 1;
        match body {
            MessageBody::Message { .. } | MessageBody::Broadcast { .. } => None,
            MessageBody::ShutdownRequest { request_id, .. } => {
                self.last_number += 1;
                let [name] = to else { return None };
                let is_running =
                    team.members.get(name).is_some_and(|it| it.state == RecipientState::Running);
                if is_running {
                    team.requests.insert(name.clone(), request_id.clone());
                    return Some(request_id.clone());
                }
                // Nobody is there to answer.
                self.shut_down(&from.team, name);
                None
            }
            MessageBody::ShutdownResponse { approve, .. } => {
                team.requests.remove(&from.member);
                if *approve {
                    self.shut_down(&from.team, &from.member);
                }
                None
            }
        }
    }

    /// Ends a member for good. What waits in its mailbox can still be read by its reader.
    fn shut_down(&mut self, team: &str, name: &str) {
        let members = self.teams.get_mut(team).map(|it| &mut it.members);
        let Some(member) = members.and_then(|it| it.get_mut(name)) else { return };
        member.state = RecipientState::ShutDown;
        member.dismissed.cancel();
        let session = member.session.clone();
        self.seats.remove(&session);
        if let Some(mailbox) = self.mailboxes.remove(&session) {
            mailbox.close();
        }
    }

    /// Ends a team. The lead keeps the messages that it has not read.
    fn dissolve(&mut self, team: &str) {
        let Some(team) = self.teams.remove(team) else { return };
        for (name, member) in team.members {
            member.dismissed.cancel();
            // A member that was shut down has no mailbox any more, and its session may be in another team.
            if member.state == RecipientState::ShutDown {
                continue;
            }
            self.seats.remove(&member.session);
            let Some(mailbox) = self.mailboxes.get(&member.session) else { continue };
            if name != LEAD_NAME {
                mailbox.clear();
                mailbox.close();
            }
            if name != LEAD_NAME || mailbox.is_unused() {
                self.mailboxes.remove(&member.session);
            }
        }
    }
}

impl Team {
    /// Whom a letter is for, and what they get.
    fn addressed(
        &self,
        from: &Seat,
        letter: TeamLetter,
        request_id: &str,
    ) -> Result<(Vec<String>, MessageBody), TeamError> {
        Ok(match letter {
            TeamLetter::Direct { to, content, summary } => {
                let to = self.reachable(from, to)?;
                (vec![to], MessageBody::Message { content, summary })
            }
            TeamLetter::Broadcast { content, summary } => {
                let to: Vec<String> = self.others(from).collect();
                if to.is_empty() {
                    return Err(TeamError::NobodyElse(from.team.clone()));
                }
                (to, MessageBody::Broadcast { content, summary })
            }
            TeamLetter::ShutdownRequest { to, reason } => {
                from.require_lead("ask members to end")?;
                let to = self.reachable(from, to)?;
                let request_id = request_id.to_owned();
                (vec![to], MessageBody::ShutdownRequest { request_id, reason })
            }
            TeamLetter::ShutdownResponse { request_id, approve, reason } => {
                let waiting = self.requests.get(&from.member);
                if waiting != Some(&request_id) {
                    let known = waiting.cloned().into_iter().collect();
                    return Err(TeamError::NoSuchRequest { id: request_id, known });
                }
                let body = MessageBody::ShutdownResponse { request_id, approve, reason };
                (vec![LEAD_NAME.to_owned()], body)
            }
        })
    }

    /// The other members that receive messages.
    fn others<'t>(&'t self, from: &'t Seat) -> impl Iterator<Item = String> + 't {
        let is_there = |(name, it): &(&String, &TeamMember)| {
            **name != from.member && it.state != RecipientState::ShutDown
        };
        self.members.iter().filter(is_there).map(|(name, _)| name.clone())
    }

    fn reachable(&self, from: &Seat, to: String) -> Result<String, TeamError> {
        if to == from.member {
            return Err(TeamError::ToOneself(to));
        }
        match self.members.get(&to).map(|it| it.state) {
            Some(RecipientState::Running | RecipientState::Idle) => Ok(to),
            Some(RecipientState::ShutDown) => Err(TeamError::ShutDown(to)),
            None => Err(TeamError::NoSuchMember {
                team: from.team.clone(),
                name: to,
                known: self.others(from).collect(),
            }),
        }
    }
}

fn check_name(name: &str, of: &'static str) -> Result<(), TeamError> {
    let is_sign = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    if (1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(is_sign) {
        return Ok(());
    }
    Err(TeamError::InvalidName { name: name.to_owned(), of })
}
