//! The state behind the lock of [`super::Teams`]: which session belongs to which team, and their
//! mailboxes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{LEAD_NAME, MessageBody, RecipientState, TeamError, TeamLetter, mailbox::Mailbox};

#[derive(Debug, Default)]
pub(super) struct Roster {
    pub(super) teams: BTreeMap<String, Team>,
    /// session → its seat in a team.
    pub(super) seats: HashMap<String, Seat>,
    /// session → its messages. A session without a seat has a mailbox while it has a reader or unread
    /// messages.
    pub(super) mailboxes: HashMap<String, Arc<Mailbox>>,
    /// The last number given to an agent that joined or to a shutdown request.
    pub(super) last_number: u64,
    pub(super) closed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) team: String,
    pub(super) member: String,
}

#[derive(Debug, Default)]
pub(super) struct Team {
    pub(super) members: BTreeMap<String, TeamMember>,
    /// How many messages were sent.
    pub(super) sent: u64,
    /// member → the shutdown request that it has not answered.
    pub(super) requests: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct TeamMember {
    pub(super) session: String,
    pub(super) state: RecipientState,
    /// Distinguishes a later run of the same agent from an earlier one that is still ending.
    pub(super) turn: u64,
    pub(super) dismissed: CancellationToken,
}

impl Seat {
    pub(super) fn require_lead(&self, what: &'static str) -> Result<(), TeamError> {
        if self.member == LEAD_NAME {
            return Ok(());
        }
        Err(TeamError::NotLead { what, member: self.member.clone() })
    }
}

impl Roster {
    /// Gives a session a seat in a team, with a mailbox.
    pub(super) fn seat(
        &mut self,
        team: &str,
        name: &str,
        session: &str,
    ) -> (u64, CancellationToken) {
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

    pub(super) fn mailboxes_of(
        &self,
        team: &Team,
        names: &[String],
    ) -> Vec<(String, Arc<Mailbox>)> {
        let mailbox = |name: &String| {
            let mailbox = self.mailboxes.get(&team.members.get(name)?.session)?;
            Some((name.clone(), Arc::clone(mailbox)))
        };
        names.iter().filter_map(mailbox).collect()
    }

    /// Updates the state after a message was sent. Returns the id of a shutdown request that waits for
    /// an answer.
    pub(super) fn note_sent(
        &mut self,
        from: &Seat,
        to: &[String],
        body: &MessageBody,
    ) -> Option<String> {
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
                // No agent is running that could answer.
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

    /// Shuts a member down. Its reader can still read the messages in its mailbox.
    pub(super) fn shut_down(&mut self, team: &str, name: &str) {
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

    /// Deletes a team. The lead keeps its unread messages.
    pub(super) fn dissolve(&mut self, team: &str) {
        let Some(team) = self.teams.remove(team) else { return };
        for (name, member) in team.members {
            member.dismissed.cancel();
            // A member that was shut down has no mailbox, and its session may be in another team.
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
    /// The recipients of a letter, and the message they get.
    pub(super) fn addressed(
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
                    return Err(TeamError::NoOtherMembers(from.team.clone()));
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
    pub(super) fn others<'t>(&'t self, from: &'t Seat) -> impl Iterator<Item = String> + 't {
        let is_there = |(name, it): &(&String, &TeamMember)| {
            **name != from.member && it.state != RecipientState::ShutDown
        };
        self.members.iter().filter(is_there).map(|(name, _)| name.clone())
    }

    pub(super) fn reachable(&self, from: &Seat, to: String) -> Result<String, TeamError> {
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
