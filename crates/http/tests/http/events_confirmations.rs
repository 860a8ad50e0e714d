//! Confirmation requests that are answered over HTTP, by the host, by both or not at all.

#![expect(clippy::indexing_slicing, reason = "tests")]

use std::sync::{Arc, Mutex};

use http::StatusCode;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_core::ToolOutput;
use toolwright_http::{AccessRules, HttpServer, HttpService, ServerAddress};
use toolwright_pipeline::{BusEvent, ConfirmationAnswer, MessageBus};
use toolwright_test_bed::kind;

use crate::events_bed::{FollowedEvents, ServedBed};

fn write(bed: &ServedBed, name: &str, content: &str) -> Value {
    json!({ "file_path": bed.root().join(name), "content": content })
}

/// Makes a call that needs a confirmation, and answers over REST.
async fn answered(
    bed: &ServedBed,
    events: &mut FollowedEvents,
    call: Value,
    answer: Value,
) -> ToolOutput {
    let running = bed.start("Write", call);
    let (id, _) = bed.asked(events).await;
    let answer = bed.post(&format!("/api/confirmations/{id}"), answer).await;
    assert_eq!(answer, (StatusCode::OK, json!({ "settled": true })));
    running.await.unwrap()
}

/// The outcome of the confirmation request, and the record of the call after its end.
async fn ended(events: &mut FollowedEvents) -> (Value, Value) {
    let settled = events.until(|it| it.data["type"] == "settled").await;
    assert_eq!(settled.name, "confirmation");
    let record = events.until(|it| it.data["durationMs"].is_number()).await.data;
    (settled.data["outcome"].clone(), record)
}

#[tokio::test]
async fn a_call_waits_for_approval_over_rest_and_runs() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let running = bed.start("Write", write(&bed, "a.txt", "text"));
    let waiting = events.until(|it| it.data["status"] == "waiting").await;
    assert_eq!(waiting.data["decision"]["action"], "ask");
    let (id, details) = bed.asked(&mut events).await;
    assert_eq!(details["toolName"], "Write");
    assert!(details["diff"].as_str().unwrap().contains("+text"), "{details}");
    assert!(!bed.root().join("a.txt").exists());
    let path = format!("/api/confirmations/{id}");
    let yes = json!({ "approved": true });
    assert_eq!(bed.post(&path, yes.clone()).await.0, StatusCode::OK);
    assert_eq!(running.await.unwrap().error, None);
    assert_eq!(std::fs::read_to_string(bed.root().join("a.txt")).unwrap(), "text");
    let (outcome, record) = ended(&mut events).await;
    assert_eq!((outcome, &record["status"]), (json!("approved"), &json!("succeeded")));
    assert_eq!(record["decision"]["asked"], "approved");
    let (status, refusal) = bed.post(&path, yes).await;
    assert_eq!((status, &refusal["type"]), (StatusCode::NOT_FOUND, &json!("NotFound")));
    assert_eq!(bed.get("/api/confirmations").await.1, json!({ "confirmations": [] }));
}

#[tokio::test]
async fn a_denial_over_rest_refuses_the_call_with_its_message() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let no = json!({ "approved": false, "message": "use b.txt", "interrupt": true });
    let output = answered(&bed, &mut events, write(&bed, "a.txt", ""), no).await;
    assert_eq!(kind(&output), Some(ErrorKind::PolicyDenied));
    assert!(output.joined_text().contains("use b.txt"));
    assert!(output.interrupt.is_some());
    let (outcome, record) = ended(&mut events).await;
    assert_eq!((outcome, &record["status"]), (json!("denied"), &json!("refused")));
    assert_eq!(record["decision"]["asked"], "denied");
    assert!(!bed.root().join("a.txt").exists());
}

#[tokio::test]
async fn a_request_without_an_answer_times_out() {
    let bed = ServedBed::new(json!({ "limits": { "confirmationTimeoutMs": 50 } }));
    let mut events = bed.follow(None).await;
    let output = bed.call("Write", write(&bed, "a.txt", "")).await;
    assert_eq!(kind(&output), Some(ErrorKind::ConfirmationTimeout));
    let (outcome, record) = ended(&mut events).await;
    assert_eq!((outcome, &record["errorType"]), (json!("timeout"), &json!("ConfirmationTimeout")));
    assert_eq!(record["decision"]["asked"], "timeout");
}

#[tokio::test]
async fn the_duration_of_a_call_excludes_the_time_of_the_confirmation() {
    let bed = ServedBed::new(json!({ "limits": { "confirmationTimeoutMs": 300 } }));
    let mut events = bed.follow(None).await;
    let before = std::time::Instant::now();
    bed.call("Write", write(&bed, "a.txt", "")).await;
    let all = before.elapsed().as_secs_f64() * 1_000.0;
    let work = ended(&mut events).await.1["durationMs"].as_f64().unwrap();
    assert!(work <= all - 300.0, "{work} of {all}");
}

#[tokio::test]
async fn always_allow_over_rest_avoids_the_next_request() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let always = json!({ "approved": true, "alwaysAllow": true });
    answered(&bed, &mut events, write(&bed, "a.txt", "1"), always).await;
    let output = bed.start("Write", write(&bed, "a.txt", "2")).await.unwrap();
    assert_eq!(output.error, None);
    assert_eq!(std::fs::read_to_string(bed.root().join("a.txt")).unwrap(), "2");
}

#[tokio::test]
async fn an_input_that_is_edited_over_rest_is_used() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let edited = json!({ "approved": true, "updatedInput": write(&bed, "b.txt", "edited") });
    assert_eq!(answered(&bed, &mut events, write(&bed, "a.txt", "1"), edited).await.error, None);
    assert_eq!(std::fs::read_to_string(bed.root().join("b.txt")).unwrap(), "edited");
    assert!(!bed.root().join("a.txt").exists());
    assert_eq!(ended(&mut events).await.1["status"], "succeeded");
}

#[tokio::test]
async fn an_invalid_answer_settles_nothing() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let running = bed.start("Write", write(&bed, "a.txt", ""));
    let (id, _) = bed.asked(&mut events).await;
    let path = format!("/api/confirmations/{id}");
    for body in [
        json!({}),
        json!([]),
        json!([true]),
        json!({ "approved": "true" }),
        json!({ "approved": 1 }),
        json!({ "approved": true, "extra": 1 }),
        json!({ "approved": true, "alwaysAllow": "yes" }),
        json!({ "id": id, "approved": true }),
    ] {
        let (status, refusal) = bed.post(&path, body.clone()).await;
        assert_eq!(
            (status, &refusal["type"]),
            (StatusCode::BAD_REQUEST, &json!("InvalidBody")),
            "{body}"
        );
    }
    assert_eq!(bed.get("/api/confirmations").await.1["confirmations"][0]["id"], id);
    bed.post(&path, json!({ "approved": false })).await;
    running.await.unwrap();
}

#[tokio::test]
async fn after_an_answer_of_the_host_rest_comes_too_late() {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&ids);
    let bus = MessageBus::new(move |event| {
        if let BusEvent::Request { id, .. } = event {
            received.lock().unwrap().push(id.clone());
        }
        true
    });
    let bed = ServedBed::with_bus(json!({}), bus);
    let mut events = bed.follow(None).await;
    let running = bed.start("Write", write(&bed, "a.txt", ""));
    let (id, _) = bed.asked(&mut events).await;
    assert_eq!(ids.lock().unwrap().as_slice(), std::slice::from_ref(&id));
    assert!(bed.bus.respond(&id, ConfirmationAnswer { approved: true, ..<_>::default() }));
    let late = bed.post(&format!("/api/confirmations/{id}"), json!({ "approved": false })).await;
    assert_eq!(late.0, StatusCode::NOT_FOUND);
    assert_eq!(running.await.unwrap().error, None);
}

#[tokio::test]
async fn a_host_without_a_listener_does_not_end_a_request_that_a_client_can_answer() {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&ids);
    // As in JavaScript: the function reaches the facade, which finds no listener a moment later.
    let bus = MessageBus::new(move |event| {
        if let BusEvent::Request { id, .. } = event {
            received.lock().unwrap().push(id.clone());
        }
        true
    });
    let bed = ServedBed::with_bus(json!({}), bus);
    let mut events = bed.follow(None).await;
    let running = bed.start("Write", write(&bed, "a.txt", ""));
    let (id, _) = bed.asked(&mut events).await;
    assert!(!bed.bus.no_listener(&id));
    bed.post(&format!("/api/confirmations/{id}"), json!({ "approved": true })).await;
    assert_eq!(running.await.unwrap().error, None);
    drop(events);
    let running = bed.start("Bash", json!({ "command": "touch x" }));
    while ids.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    let id = ids.lock().unwrap()[1].clone();
    assert!(bed.bus.no_listener(&id), "no listener sees it now");
    assert_eq!(kind(&running.await.unwrap()), Some(ErrorKind::PolicyDenied));
}

#[tokio::test]
async fn a_waiting_request_is_in_the_list_for_new_clients() {
    let bed = ServedBed::new(json!({}));
    let service = HttpService::new(Arc::clone(&bed.registry), AccessRules::default());
    let at = ServerAddress { host: "127.0.0.1".to_owned(), port: 0 };
    // An open server counts as a responder, even before a page is open.
    let server = HttpServer::open(service, &at).await.unwrap();
    let running = bed.start("Write", write(&bed, "a.txt", ""));
    let mut list = json!({ "confirmations": [] });
    while list["confirmations"] == json!([]) {
        list = bed.get("/api/confirmations").await.1;
        tokio::task::yield_now().await;
    }
    let id = list["confirmations"][0]["id"].as_str().unwrap();
    bed.post(&format!("/api/confirmations/{id}"), json!({ "approved": true })).await;
    assert_eq!(running.await.unwrap().error, None);
    server.close().await;
    let output = bed.call("Bash", json!({ "command": "touch x" })).await;
    assert_eq!(kind(&output), Some(ErrorKind::PolicyDenied), "a closed server answers nothing");
}

#[tokio::test]
async fn closing_the_registry_cancels_the_request_and_the_call() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let running = bed.start("Write", write(&bed, "a.txt", ""));
    bed.asked(&mut events).await;
    bed.registry.close();
    assert_eq!(kind(&running.await.unwrap()), Some(ErrorKind::RegistryClosed));
    let (_, list) = bed.get("/api/calls").await;
    let record = &list["calls"][0];
    assert_eq!(
        (&record["status"], &record["decision"]["asked"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    assert_eq!(bed.get("/api/confirmations").await.1, json!({ "confirmations": [] }));
}
