//! Teams from the members' point of view: who may do what, and which messages arrive.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{collections::BTreeMap, sync::Arc, thread};

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::coordinator::{DeletedTeam, TeamLimits};

const LEAD: &str = "session-of-lead";

fn team(name: &str) -> NewTeam {
    NewTeam { name: name.to_owned(), description: None }
}

fn member(name: &str) -> NewMember {
    NewMember { team: "red".to_owned(), name: name.to_owned(), session: format!("of-{name}") }
}

fn direct(to: &str, content: &str) -> TeamLetter {
    TeamLetter::Direct { to: to.to_owned(), content: content.to_owned(), summary: None }
}

fn broadcast(content: &str) -> TeamLetter {
    TeamLetter::Broadcast { content: content.to_owned(), summary: None }
}

fn request(to: &str) -> TeamLetter {
    TeamLetter::ShutdownRequest { to: to.to_owned(), reason: None }
}

fn response(request_id: &str, approve: bool) -> TeamLetter {
    TeamLetter::ShutdownResponse { request_id: request_id.to_owned(), approve, reason: None }
}

fn red_team() -> Arc<Teams> {
    let teams = Arc::new(Teams::default());
    teams.create(LEAD, team("red")).unwrap();
    teams
}

/// The unread messages of a session, as `from: text`.
fn unread(teams: &Teams, session: &str) -> Vec<String> {
    teams.take_unread(session, |_| true).0.iter().map(|it| words(it)).collect()
}

fn words(message: &TeamMessage) -> String {
    let text = match &message.body {
        MessageBody::Message { content, .. } | MessageBody::Broadcast { content, .. } => {
            content.clone()
        }
        MessageBody::ShutdownRequest { request_id, .. } => format!("end? {request_id}"),
        MessageBody::ShutdownResponse { approve, .. } => format!("ends: {approve}"),
    };
    format!("{}: {text}", message.from)
}

fn said(result: Result<impl std::fmt::Debug, TeamError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn messages_reach_their_recipients_in_order() {
    let teams = red_team();
    let (_a, _b) = (teams.join(LEAD, member("a")).unwrap(), teams.join(LEAD, member("b")).unwrap());
    teams.send(LEAD, direct("a", "one")).unwrap();
    teams.send("of-b", direct("a", "two")).unwrap();
    let sent = teams.send("of-b", broadcast("three")).unwrap();
    assert_eq!(
        sent.to,
        [
            ("a".to_owned(), RecipientState::Running),
            (LEAD_NAME.to_owned(), RecipientState::Running)
        ]
    );
    assert_eq!(unread(&teams, "of-a"), ["team-lead: one", "b: two", "b: three"]);
    assert_eq!(unread(&teams, LEAD), ["b: three"]);
    assert_eq!(unread(&teams, "of-b"), Vec::<String>::new());
    assert_eq!(unread(&teams, "of-a"), Vec::<String>::new());
}

#[test]
fn names_are_checked_and_unique() {
    let teams = red_team();
    assert_eq!(
        said(teams.create(LEAD, team("blue"))),
        "you are `team-lead` of the team `red`, and a member can be in only one team; end that team first"
    );
    assert_eq!(
        said(teams.create("other", team("red"))),
        "there is a team named `red` already; choose another name"
    );
    assert_eq!(
        said(teams.create("other", team("a b"))),
        "`a b` cannot be the name of a team: use 1 to 64 letters, digits, `_`, `-` or `.`"
    );
    let _a = teams.join(LEAD, member("a")).unwrap();
    for taken in ["a", LEAD_NAME] {
        assert_eq!(
            said(teams.join(LEAD, member(taken))),
            format!("the team `red` has a member named `{taken}` already; choose another name")
        );
    }
    assert_eq!(
        said(teams.join("other", member("b"))),
        "there is no team named `red`; there are no teams"
    );
    assert_eq!(
        said(teams.join("of-a", member("b"))),
        "only `team-lead` may start members, and you are `a`"
    );
}

#[test]
fn a_letter_that_cannot_be_delivered_says_why() {
    let teams = red_team();
    assert_eq!(said(teams.send("stranger", broadcast("x"))), "you are in no team; make one first");
    assert_eq!(
        said(teams.send(LEAD, broadcast("x"))),
        "the team `red` has no other members to write to"
    );
    let _a = teams.join(LEAD, member("a")).unwrap();
    assert_eq!(
        said(teams.send(LEAD, direct("c", "x"))),
        "the team `red` has no member named `c`; members: `a`"
    );
    assert_eq!(
        said(teams.send("of-a", direct("a", "x"))),
        "you are `a` yourself; write to another member"
    );
    assert_eq!(
        said(teams.send("of-a", request(LEAD_NAME))),
        "only `team-lead` may ask members to end, and you are `a`"
    );
    assert_eq!(
        said(teams.send("of-a", response("shutdown-9", true))),
        "no shutdown request `shutdown-9` waits for your answer; there are no requests"
    );
    assert_eq!(
        said(teams.send(LEAD, direct("a", &"x".repeat(100_001)))),
        "the message has 100001 bytes, and at most 100000 are sent; shorten it"
    );
}

#[test]
fn a_full_mailbox_refuses_the_whole_broadcast() {
    let mailbox = MailboxLimits { messages: 2, bytes: 10 };
    let teams = Arc::new(Teams::new(TeamLimits { mailbox, ..TeamLimits::default() }));
    teams.create(LEAD, team("red")).unwrap();
    let (_a, _b) = (teams.join(LEAD, member("a")).unwrap(), teams.join(LEAD, member("b")).unwrap());
    teams.send(LEAD, direct("a", "1")).unwrap();
    teams.send(LEAD, direct("a", "2")).unwrap();
    let full = "nothing was sent: the mailbox of `a` is full (at most 2 messages and 10 bytes wait there); \
                try again when messages were read";
    assert_eq!(said(teams.send(LEAD, direct("a", "3"))), full);
    assert_eq!(said(teams.send(LEAD, broadcast("3"))), full);
    assert_eq!(unread(&teams, "of-b"), Vec::<String>::new());
    assert_eq!(unread(&teams, "of-a"), ["team-lead: 1", "team-lead: 2"]);
    teams.send(LEAD, direct("a", "ten bytes!")).unwrap();
    assert_eq!(said(teams.send(LEAD, direct("a", "3"))), full);
    assert_eq!(unread(&teams, "of-a"), ["team-lead: ten bytes!"]);
    teams.send(LEAD, broadcast("3")).unwrap();
}

#[test]
fn a_member_that_agrees_to_end_leaves_and_the_team_can_be_deleted() {
    let teams = red_team();
    let a = teams.join(LEAD, member("a")).unwrap();
    let still = "the team `red` still has running members: `a`; \
                 ask each to end with a shutdown request, or stop it";
    assert_eq!(said(teams.delete(LEAD)), still);
    let id = teams.send(LEAD, request("a")).unwrap().request_id.unwrap();
    assert_eq!(unread(&teams, "of-a"), [format!("team-lead: end? {id}")]);
    teams.send("of-a", response(&id, false)).unwrap();
    assert_eq!(unread(&teams, LEAD), ["a: ends: false"]);
    assert_eq!(said(teams.delete(LEAD)), still);
    assert!(!a.dismissed.is_cancelled());

    let id = teams.send(LEAD, request("a")).unwrap().request_id.unwrap();
    let sent = teams.send("of-a", response(&id, true)).unwrap();
    assert_eq!(sent.to, [(LEAD_NAME.to_owned(), RecipientState::Running)]);
    assert!(a.dismissed.is_cancelled());
    assert_eq!(
        said(teams.send(LEAD, direct("a", "x"))),
        "`a` has been shut down and receives no more messages"
    );
    assert_eq!(said(teams.send("of-a", broadcast("x"))), "you are in no team; make one first");
    assert_eq!(said(teams.delete("of-a")), "you are in no team; make one first");
    let deleted = teams.delete(LEAD).unwrap();
    assert_eq!(deleted, DeletedTeam { name: "red".to_owned(), members: vec!["a".to_owned()] });
    // The lead's unread answer remains after the team is deleted.
    assert_eq!(unread(&teams, LEAD), ["a: ends: true"]);
    assert!(teams.is_empty());
}

#[test]
fn an_agent_that_ended_gets_its_messages_when_it_is_resumed() {
    let teams = red_team();
    drop(teams.join(LEAD, member("a")).unwrap());
    let sent = teams.send(LEAD, direct("a", "one")).unwrap();
    assert_eq!(sent.to, [("a".to_owned(), RecipientState::Idle)]);
    let again = teams.rejoin("of-a").unwrap();
    assert_eq!((again.team(), again.member()), ("red", "a"));
    assert!(teams.rejoin("of-a").is_none());
    assert_eq!(unread(&teams, "of-a"), ["team-lead: one"]);
    drop(again);
    let _third = teams.join(LEAD, member("a")).unwrap();
    assert!(teams.rejoin("stranger").is_none());
}

#[test]
fn an_agent_with_the_name_of_an_ended_one_gets_its_messages() {
    let teams = red_team();
    drop(teams.join(LEAD, member("a")).unwrap());
    teams.send(LEAD, direct("a", "one")).unwrap();
    let successor = NewMember { session: "another".to_owned(), ..member("a") };
    let _successor = teams.join(LEAD, successor).unwrap();
    teams.send(LEAD, direct("a", "two")).unwrap();
    assert_eq!(unread(&teams, "another"), ["team-lead: one", "team-lead: two"]);
    assert_eq!(said(teams.send("of-a", broadcast("x"))), "you are in no team; make one first");
}

#[test]
fn a_run_that_ends_late_does_not_end_the_next_one() {
    let teams = red_team();
    let first = teams.join(LEAD, member("a")).unwrap();
    let id = teams.send(LEAD, request("a")).unwrap().request_id.unwrap();
    teams.send("of-a", response(&id, true)).unwrap();
    let _second = teams.join(LEAD, member("a")).unwrap();
    drop(first);
    let sent = teams.send(LEAD, direct("a", "x")).unwrap();
    assert_eq!(sent.to, [("a".to_owned(), RecipientState::Running)]);
}

#[test]
fn a_member_that_has_ended_is_shut_down_without_an_answer() {
    let teams = red_team();
    drop(teams.join(LEAD, member("a")).unwrap());
    let sent = teams.send(LEAD, request("a")).unwrap();
    assert_eq!(sent.request_id, None);
    assert_eq!(sent.to, [("a".to_owned(), RecipientState::ShutDown)]);
}

#[tokio::test]
async fn a_reader_gets_messages_as_they_arrive_and_ends_with_the_member() {
    let teams = red_team();
    let a = teams.join(LEAD, member("a")).unwrap();
    let reader = a.reader();
    let reading = tokio::spawn(async move {
        let mut read = Vec::new();
        while let Some(message) = reader.next().await {
            read.push(words(&message));
        }
        read
    });
    teams.send(LEAD, direct("a", "one")).unwrap();
    assert_eq!(unread(&teams, "of-a"), Vec::<String>::new());
    let id = teams.send(LEAD, request("a")).unwrap().request_id.unwrap();
    teams.send("of-a", response(&id, true)).unwrap();
    let wanted = ["team-lead: one".to_owned(), format!("team-lead: end? {id}")];
    assert_eq!(reading.await.unwrap(), wanted);
}

#[tokio::test]
async fn closing_ends_every_team_and_every_reader() {
    let teams = red_team();
    let a = teams.join(LEAD, member("a")).unwrap();
    let (of_lead, of_member, of_stranger) =
        (teams.reader(LEAD), a.reader(), teams.reader("stranger"));
    teams.send("of-a", broadcast("x")).unwrap();
    teams.close();
    for reader in [of_lead, of_member, of_stranger, teams.reader("late")] {
        assert_eq!(reader.next().await, None);
    }
    assert!(a.dismissed.is_cancelled());
    assert_eq!(said(teams.create("other", team("blue"))), "the registry was closed");
    drop(a);
    assert!(teams.is_empty());
}

#[test]
fn there_is_a_limit_to_teams_and_members() {
    let limits = TeamLimits { teams: 1, members: 1, ..TeamLimits::default() };
    let teams = Arc::new(Teams::new(limits));
    teams.create(LEAD, team("red")).unwrap();
    assert_eq!(
        said(teams.create("other", team("blue"))),
        "there are 1 teams already, which is the limit; end one first"
    );
    let _a = teams.join(LEAD, member("a")).unwrap();
    assert_eq!(
        said(teams.join(LEAD, member("b"))),
        "there are 1 members already, which is the limit; end one first"
    );
}

#[test]
fn the_number_of_messages_left_is_returned() {
    let teams = red_team();
    let _a = teams.join(LEAD, member("a")).unwrap();
    for text in ["four", "five!", "six"] {
        teams.send(LEAD, direct("a", text)).unwrap();
    }
    let (first, left) = teams.take_unread("of-a", |it| it.bytes() > 3);
    assert_eq!((first.len(), left), (2, 1));
    assert_eq!(teams.take_unread("of-a", |_| false), (Vec::new(), 1));
    assert_eq!(unread(&teams, "of-a"), ["team-lead: six"]);
}

#[derive(Clone, Debug)]
enum Planned {
    To(usize),
    ToAll,
}

fn plans() -> impl Strategy<Value = Vec<Vec<Planned>>> {
    (2..6_usize).prop_flat_map(|members| {
        let letter = prop_oneof![(0..members).prop_map(Planned::To), Just(Planned::ToAll)];
        prop::collection::vec(prop::collection::vec(letter, 0..40), members)
    })
}

/// Every second member reads messages as they arrive, the others poll between other work, as agents do.
fn read_all(teams: &Arc<Teams>, session: &str, number: usize, wanted: usize) -> Vec<String> {
    let mut read = Vec::new();
    if number.is_multiple_of(2) {
        let reader = teams.reader(session);
        let runtime = Builder::new_current_thread().build().unwrap();
        while read.len() < wanted {
            read.push(words(&runtime.block_on(reader.next()).unwrap()));
        }
    } else {
        while read.len() < wanted {
            read.extend(unread(teams, session));
            thread::yield_now();
        }
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn concurrent_senders_keep_their_order_and_no_message_is_lost_or_doubled(plans in plans()) {
        let teams = red_team();
        let name = |number: usize| format!("m{number}");
        let seats: Vec<_> =
            (0..plans.len()).map(|it| teams.join(LEAD, member(&name(it))).unwrap()).collect();
        // receiver → sender → texts
        let mut wanted = vec![BTreeMap::<String, Vec<String>>::new(); plans.len()];
        for (sender, letters) in plans.iter().enumerate() {
            for (at, letter) in letters.iter().enumerate() {
                for (receiver, wanted) in wanted.iter_mut().enumerate() {
                    let is_for = match letter {
                        Planned::To(to) => *to == receiver,
                        Planned::ToAll => true,
                    };
                    if is_for && receiver != sender {
                        wanted.entry(name(sender)).or_default().push(at.to_string());
                    }
                }
            }
        }
        let read = thread::scope(|scope| {
            let readers: Vec<_> = wanted.iter().enumerate().map(|(number, wanted)| {
                let (teams, count) = (&teams, wanted.values().map(Vec::len).sum());
                scope.spawn(move || read_all(teams, &format!("of-{}", name(number)), number, count))
            }).collect();
            for (sender, letters) in plans.iter().enumerate() {
                let teams = &teams;
                scope.spawn(move || {
                    for (at, letter) in letters.iter().enumerate() {
                        let text = at.to_string();
                        let letter = match letter {
                            Planned::To(to) if *to == sender => continue,
                            Planned::To(to) => direct(&name(*to), &text),
                            Planned::ToAll => broadcast(&text),
                        };
                        teams.send(&format!("of-{}", name(sender)), letter).unwrap();
                    }
                });
            }
            readers.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        for (receiver, read) in read.into_iter().enumerate() {
            let mut by_sender = BTreeMap::<String, Vec<String>>::new();
            for message in read {
                let (from, text) = message.split_once(": ").unwrap();
                by_sender.entry(from.to_owned()).or_default().push(text.to_owned());
            }
            prop_assert_eq!(&by_sender, &wanted[receiver]);
            prop_assert_eq!(unread(&teams, &format!("of-{}", name(receiver))), Vec::<String>::new());
        }
        drop(seats);
        unread(&teams, LEAD);
        teams.delete(LEAD).unwrap();
        prop_assert!(teams.is_empty());
    }
}

#[test]
fn a_team_ends_when_its_lead_is_dropped() {
    let teams = red_team();
    let _anna = teams.join(LEAD, member("anna")).unwrap();
    // A member does not end the team.
    teams.end_led_by("of-anna");
    teams.end_led_by("stranger");
    assert!(!teams.is_empty());
    teams.end_led_by(LEAD);
    assert!(teams.is_empty());
    assert!(teams.create("other", team("red")).is_ok());
}

#[test]
fn an_error_cuts_a_long_name() {
    let teams = red_team();
    let long = "x".repeat(100_000);
    let errors = [
        teams.create("other", team(&long)).unwrap_err(),
        teams.send(LEAD, direct(&long, "text")).unwrap_err(),
        teams.send(LEAD, response(&long, true)).unwrap_err(),
        teams.join(LEAD, NewMember { team: long.clone(), ..member("anna") }).unwrap_err(),
    ];
    for error in errors {
        let words = error.to_string();
        assert!(words.len() < 300 && words.contains("x…`"), "{words}");
    }
}
