//! Team messages that are delivered with the results of calls.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_core::{Content, ToolOutput};
use toolwright_pipeline::{CallOptions, Limits};
use toolwright_team::{Membership, NewMember, Teams};
use toolwright_test_bed::TestBed;

const MEMBER: &str = "session-of-anna";

async fn call(bed: &TestBed, session: &str, name: &str, input: Value) -> ToolOutput {
    let options = CallOptions { session_id: Some(session.to_owned()), ..CallOptions::default() };
    bed.call_with(name, input, options).await
}

async fn team(bed: &TestBed) -> Membership {
    let made = call(bed, "lead", "TeamCreate", json!({ "team_name": "red" })).await;
    assert_eq!(made.error, None);
    let member =
        NewMember { team: "red".to_owned(), name: "anna".to_owned(), session: MEMBER.to_owned() };
    Teams::of(bed.pipeline.sessions.shared()).join("lead", member).unwrap()
}

async fn write(bed: &TestBed, text: &str) {
    let message = json!({ "type": "message", "recipient": "anna", "content": text });
    let sent = call(bed, "lead", "SendMessage", message).await;
    assert_eq!(sent.joined_text(), "sent to `anna`");
}

fn texts(output: &ToolOutput) -> Vec<&str> {
    fn text(block: &Content) -> &str {
        if let Content::Text { text } = block { text } else { "" }
    }
    output.content.iter().map(text).collect()
}

#[tokio::test]
async fn messages_that_do_not_fit_into_a_result_come_with_the_next_one() {
    let limits = Limits { max_result_bytes: 1_000, ..Limits::default() };
    let bed = TestBed::with_limits(limits);
    let _anna = team(&bed).await;
    let long = "x".repeat(600);
    for text in ["one", "two", &long] {
        write(&bed, text).await;
    }
    let echo = |bytes: usize| json!({ "text": "e".repeat(bytes) });
    let note = "[3 more messages to you come with your next calls]";
    let full = call(&bed, MEMBER, "diagnostic_echo", echo(950)).await;
    assert_eq!(texts(&full), [&"e".repeat(950), note]);
    let some = call(&bed, MEMBER, "diagnostic_echo", echo(800)).await;
    assert_eq!(
        texts(&some),
        [
            &"e".repeat(800),
            "[message from `team-lead` to you]\none",
            "[message from `team-lead` to you]\ntwo",
            "[1 more messages to you come with your next calls]",
        ]
    );
    // The text does not fit into any result, so it is cut.
    let last = call(&bed, MEMBER, "diagnostic_echo", echo(1)).await;
    let cut = format!("[message from `team-lead` to you]\n{}… [550 more bytes]", "x".repeat(50));
    assert_eq!(texts(&last), ["e", &cut]);
    let after = call(&bed, MEMBER, "diagnostic_echo", echo(1)).await;
    assert_eq!(texts(&after), ["e"]);
}

#[tokio::test]
async fn a_cancelled_call_consumes_no_messages() {
    let bed = TestBed::new();
    let _anna = team(&bed).await;
    write(&bed, "one").await;
    let options = CallOptions { session_id: Some(MEMBER.to_owned()), ..CallOptions::default() };
    options.cancel.cancel();
    let cancelled = bed.call_with("diagnostic_echo", json!({ "text": "e" }), options).await;
    assert_eq!(texts(&cancelled), ["the call was cancelled"]);
    let later = call(&bed, MEMBER, "diagnostic_echo", json!({ "text": "e" })).await;
    assert_eq!(texts(&later), ["e", "[message from `team-lead` to you]\none"]);
}
