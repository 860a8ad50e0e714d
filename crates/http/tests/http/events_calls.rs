//! The events of calls, from every client.

#![expect(clippy::indexing_slicing, reason = "tests")]

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_core::Registry;
use toolwright_pipeline::{CallOptions, ToolCall, TurnOrder};

use crate::events_bed::{FollowedEvents, ServedBed};

/// The records of one call, without the fields that differ from run to run.
async fn records(events: &mut FollowedEvents) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let event = events.until(|it| it.name == "call").await;
        let mut record = event.data;
        let fields = record.as_object_mut().unwrap();
        assert!(fields.remove("startedAt").unwrap().as_u64() > Some(1_700_000_000_000));
        let duration = fields.remove("durationMs");
        all.push(record);
        if let Some(duration) = duration {
            assert!(duration.as_f64() > Some(0.0));
            return all;
        }
    }
}

#[tokio::test]
async fn a_call_sends_events_when_it_starts_is_decided_and_ends() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({ "text": "hi" })).await;
    let mut record = json!({
        "number": 1,
        "toolUseId": "call",
        "sessionId": "session",
        "tool": "diagnostic_echo",
        "input": r#"{"text":"hi"}"#,
        "status": "running",
    });
    let started = record.clone();
    record["decision"] = json!({
        "action": "allow",
        "reason": "`diagnostic_echo` is decided by the allow rule `diagnostic_echo` (allowedTools[0] of the \
                   host's options)",
    });
    let decided = record.clone();
    record["status"] = json!("succeeded");
    assert_eq!(records(&mut events).await, [started, decided, record]);
}

#[tokio::test]
async fn the_reason_names_the_rule_or_the_mode() {
    let rules = json!({ "allow": ["Bash(true)"], "deny": ["Bash(false)"] });
    let bed = ServedBed::new(json!({ "policy": rules }));
    let mut events = bed.follow(None).await;
    for (command, action, status, word) in
        [("true", "allow", "succeeded", "Bash(true)"), ("false", "deny", "refused", "Bash(false)")]
    {
        bed.call("Bash", json!({ "command": command })).await;
        let record = records(&mut events).await.pop().unwrap();
        assert_eq!(
            (&record["decision"]["action"], &record["status"]),
            (&json!(action), &json!(status))
        );
        assert!(record["decision"]["reason"].as_str().unwrap().contains(word), "{record}");
    }
    bed.registry.set_permission_mode("bypassPermissions").unwrap();
    bed.call("Bash", json!({ "command": "echo" })).await;
    let record = records(&mut events).await.pop().unwrap();
    assert_eq!(record["decision"]["reason"], "mode `bypassPermissions` allows it");
}

#[tokio::test]
async fn the_last_record_has_the_status_and_the_type_of_the_error() {
    let bed = ServedBed::new(json!({}));
    bed.registry.pipeline.registry.disable(&["Glob".to_owned()]).unwrap();
    let mut events = bed.follow(None).await;
    for (tool, input, status, error) in [
        ("Nothing", json!({}), "failed", "UnknownTool"),
        ("Read", json!({}), "failed", "ValidationError"),
        ("Read", json!({ "file_path": bed.root().join("absent") }), "failed", "FileNotFoundError"),
        ("Glob", json!({ "pattern": "*" }), "refused", "ToolDisabled"),
    ] {
        bed.call(tool, input).await;
        let record = records(&mut events).await.pop().unwrap();
        assert_eq!((&record["status"], &record["errorType"]), (&json!(status), &json!(error)));
        assert_eq!(record["tool"], tool);
    }
    // Without a listener, no person can be asked.
    drop(events);
    bed.call("Write", json!({ "file_path": bed.root().join("a"), "content": "" })).await;
    let record = last(&bed).await;
    assert_eq!(
        (&record["status"], &record["errorType"]),
        (&json!("refused"), &json!("PolicyDenied"))
    );
    assert_eq!(
        (&record["decision"]["action"], record["decision"].get("asked")),
        (&json!("ask"), None)
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_reason_is_the_hooks_if_a_hook_decides() {
    let hook = |tool: &str, decision: &str| {
        let answer = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": "because",
        } });
        let command = format!("echo '{answer}'");
        json!({ "event": "PreToolUse", "matcher": tool, "timeoutMs": 60_000, "command": command })
    };
    let bed = ServedBed::new(json!({
        "hooks": [hook("Write", "allow"), hook("Read", "deny"), hook("diagnostic_echo", "ask")],
        "limits": { "confirmationTimeoutMs": 50 },
    }));
    let mut events = bed.follow(None).await;
    let file = bed.root().join("a");
    for (tool, input, action, reason, status) in [
        (
            "Write",
            json!({ "file_path": file, "content": "" }),
            "allow",
            "a hook allows it: because",
            "succeeded",
        ),
        ("Read", json!({ "file_path": file }), "deny", "because", "refused"),
        ("diagnostic_echo", json!({}), "ask", "a hook asks: because", "refused"),
    ] {
        bed.call(tool, input).await;
        let record = records(&mut events).await.pop().unwrap();
        let decision = &record["decision"];
        assert_eq!((&decision["action"], &decision["reason"]), (&json!(action), &json!(reason)));
        assert_eq!(record["status"], status);
    }
}

async fn last(bed: &ServedBed) -> Value {
    let (_, list) = bed.get("/api/calls").await;
    list["calls"].as_array().unwrap().last().unwrap().clone()
}

#[tokio::test]
async fn a_cancelled_or_dropped_call_ends_as_cancelled() {
    let bed = ServedBed::new(json!({}));
    let mut events = bed.follow(None).await;
    let slow = || ToolCall { name: "diagnostic_sleep".to_owned(), input: json!({ "ms": 60_000 }) };
    let options = CallOptions::default();
    let cancel = options.cancel.clone();
    let (_, ()) = tokio::join!(bed.registry.pipeline.call(slow(), options), async {
        events.until(|it| it.data["decision"]["action"] == "allow").await;
        cancel.cancel();
    });
    let record = records(&mut events).await.pop().unwrap();
    assert_eq!(
        (&record["status"], &record["errorType"]),
        (&json!("cancelled"), &json!("Cancelled"))
    );
    tokio::select! {
        biased;
        _ = bed.registry.pipeline.call(slow(), CallOptions::default()) => unreachable!("it sleeps"),
        _ = events.until(|it| it.data["decision"]["action"] == "allow") => {}
    }
    let record = records(&mut events).await.pop().unwrap();
    assert_eq!((&record["number"], &record["status"]), (&json!(2), &json!("cancelled")));
}

#[tokio::test]
async fn calls_of_a_turn_and_of_rest_clients_are_recorded_alike() {
    let bed = ServedBed::new(json!({}));
    let call = || Ok(ToolCall { name: "diagnostic_echo".to_owned(), input: json!({}) });
    let pipeline = &bed.registry.pipeline;
    let calls = vec![(Some("one".to_owned()), call()), (None, call())];
    let arrival = pipeline.arrival("diagnostic_echo");
    pipeline.call_all(arrival, calls, CallOptions::default(), TurnOrder::ReadsInParallel).await;
    let body = json!({ "input": {}, "toolUseId": "three", "sessionId": "s" });
    bed.post("/api/tools/diagnostic_echo/call", body).await;
    let (_, list) = bed.get("/api/calls").await;
    let calls = list["calls"].as_array().unwrap();
    let ids: Vec<_> = calls.iter().map(|it| it["toolUseId"].as_str().unwrap()).collect();
    assert_eq!((ids[0], ids[2]), ("one", "three"));
    assert!(ids[1].starts_with("call_"), "{ids:?}");
    assert!(calls.iter().all(|it| it["status"] == "succeeded"), "{list}");
}

#[tokio::test]
async fn the_last_500_calls_are_kept_and_their_inputs_are_cut() {
    let bed = ServedBed::new(json!({}));
    for _ in 0..510 {
        bed.call("diagnostic_echo", json!({ "text": "\u{202e}".repeat(10_000) })).await;
    }
    let (_, list) = bed.get("/api/calls").await;
    let calls = list["calls"].as_array().unwrap();
    let numbers: Vec<_> = calls.iter().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (11..=510).collect::<Vec<_>>());
    let input = calls[0]["input"].as_str().unwrap();
    assert!(input.len() <= 2_048 && input.ends_with('…') && !input.contains('\u{202e}'));
}

#[tokio::test]
async fn a_watcher_of_the_list_is_notified_when_it_changes() {
    let registry = Registry::default();
    let mut changes = registry.changes();
    let (_, ()) = tokio::join!(changes.changed(), async {
        registry.disable(&["Bash".to_owned()]).unwrap();
    });
    assert_eq!(*changes.borrow(), 1);
}
