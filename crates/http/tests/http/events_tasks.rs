//! Background tasks over HTTP: list, output, stop, events.

#![expect(clippy::indexing_slicing, reason = "tests")]

use http::StatusCode;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::events_bed::{FollowedEvents, ServedBed};

fn bed() -> ServedBed {
    ServedBed::new(json!({ "permissionMode": "bypassPermissions" }))
}

/// Starts a task and waits for the event of its start.
async fn start(bed: &ServedBed, events: &mut FollowedEvents, command: &str) -> String {
    bed.call("Bash", json!({ "command": command, "run_in_background": true })).await;
    let event = events.until(|it| it.name == "task").await;
    assert_eq!(
        (&event.data["type"], &event.data["task"]["command"]),
        (&json!("started"), &json!(command))
    );
    event.data["task"]["id"].as_str().unwrap().to_owned()
}

async fn ended(events: &mut FollowedEvents) -> Value {
    events.until(|it| it.name == "task" && it.data["type"] == "ended").await.data["task"].clone()
}

async fn part(bed: &ServedBed, id: &str, offset: u64) -> Value {
    let (status, part) = bed.get(&format!("/api/tasks/{id}/output?offset={offset}")).await;
    assert_eq!(status, StatusCode::OK, "{part}");
    part
}

#[tokio::test]
async fn a_task_is_listed_and_stopped_and_sends_events() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    let id = start(&bed, &mut events, "echo begun; sleep 600").await;
    let (_, list) = bed.get("/api/tasks").await;
    assert_eq!(
        (&list["tasks"][0]["id"], &list["tasks"][0]["state"]),
        (&json!(id), &json!("running"))
    );
    let (status, stopped) = bed.post(&format!("/api/tasks/{id}/stop"), json!({})).await;
    assert_eq!((status, &stopped["stopped"]), (StatusCode::OK, &json!(true)));
    assert_eq!(ended(&mut events).await["state"], "stopped");
    let (_, again) = bed.post(&format!("/api/tasks/{id}/stop"), json!({})).await;
    assert_eq!((&again["stopped"], &again["task"]["state"]), (&json!(false), &json!("stopped")));
}

#[tokio::test]
async fn unknown_tasks_are_not_found_and_invalid_offsets_are_refused() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    let id = start(&bed, &mut events, "true").await;
    for (status, refusal) in
        [bed.get("/api/tasks/none/output").await, bed.post("/api/tasks/none/stop", json!({})).await]
    {
        let expected = (StatusCode::NOT_FOUND, &json!("TaskNotFoundError"));
        assert_eq!((status, &refusal["type"]), expected);
    }
    for offset in ["-1", "x", "1.5", "99999999999999999999"] {
        let (status, _) = bed.get(&format!("/api/tasks/{id}/output?offset={offset}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{offset}");
    }
    let beyond = part(&bed, &id, 1_000_000).await;
    assert_eq!(beyond["text"], "");
}

#[tokio::test]
async fn output_is_read_by_offset_in_bounded_parts_without_cutting_a_character() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    let id = start(&bed, &mut events, "yes € | head -n 200000 | tr -d '\\n'").await;
    ended(&mut events).await;
    let (mut text, mut offset, mut parts) = (String::new(), 0, 0);
    loop {
        let part = part(&bed, &id, offset).await;
        let read = part["text"].as_str().unwrap();
        assert!(read.len() <= 64 * 1024 && part["offset"] == offset, "{part}");
        text.push_str(read);
        (offset, parts) = (part["nextOffset"].as_u64().unwrap(), parts + 1);
        if part["isComplete"] == true {
            assert_eq!((&part["state"], &part["exitCode"]), (&json!("completed"), &json!(0)));
            break;
        }
    }
    assert!(text == "€".repeat(200_000), "{} characters", text.chars().count());
    assert!(parts >= 600_000 / (64 * 1024));
}

#[tokio::test]
async fn reading_over_http_does_not_consume_the_output_for_the_model() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    let id = start(&bed, &mut events, "echo for the model").await;
    ended(&mut events).await;
    assert_eq!(part(&bed, &id, 0).await["text"], "for the model\n");
    let output = bed.call("TaskOutput", json!({ "task_id": id })).await;
    assert!(output.joined_text().contains("for the model"));
    assert_eq!(part(&bed, &id, 0).await["text"], "for the model\n");
}

#[tokio::test]
async fn the_output_of_a_running_task_can_be_read_while_it_grows() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    let id =
        start(&bed, &mut events, "echo one; until [ -e go ]; do sleep 0.02; done; echo two").await;
    let mut seen = json!({ "text": "" });
    while seen["text"] == "" {
        seen = part(&bed, &id, 0).await;
    }
    assert_eq!((&seen["text"], &seen["isComplete"]), (&json!("one\n"), &json!(false)));
    let next = seen["nextOffset"].as_u64().unwrap();
    std::fs::write(bed.root().join("go"), "").unwrap();
    ended(&mut events).await;
    let rest = part(&bed, &id, next).await;
    assert_eq!((&rest["text"], &rest["isComplete"]), (&json!("two\n"), &json!(true)));
}
