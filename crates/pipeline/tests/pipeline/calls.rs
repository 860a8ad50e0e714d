//! Calls through the pipeline: unknown tools, panics, timeouts, cancellation, progress and size limits.

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright_base::ErrorKind;
use toolwright_core::{Progress, ProgressSink, ToolOutput};
use toolwright_pipeline::{CallOptions, Limits, ToolCall, TurnOrder};
use toolwright_test_bed::TestBed;

fn error_kind(output: &ToolOutput) -> Option<ErrorKind> {
    output.error.as_ref().map(|error| error.kind)
}

#[tokio::test]
async fn a_call_returns_the_output_of_the_tool() {
    let bed = TestBed::new();
    assert_eq!(bed.call("diagnostic_echo", json!({ "text": "hi" })).await, ToolOutput::text("hi"));
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_suggests_similar_names() {
    let output = TestBed::new().call("read_fil", json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.kind, ErrorKind::UnknownTool);
    assert!(error.message.contains("`read_file`"), "{error}");
}

#[tokio::test]
async fn a_panic_anywhere_in_a_tool_is_an_error_with_its_message_and_the_next_call_works() {
    let bed = TestBed::new();
    for stage in ["prepare", "run", "blocking"] {
        let output =
            bed.call("diagnostic_panic", json!({ "message": "boom 7", "stage": stage })).await;
        let error = output.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Internal);
        assert!(error.message.contains("boom 7"), "{stage}: {error}");
    }
    assert_eq!(error_kind(&bed.call("diagnostic_echo", json!({})).await), None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_stopped() {
    let bed = TestBed::with_limits(Limits { call_timeout_ms: 50, ..Limits::default() });
    let output = bed.call("diagnostic_sleep", json!({ "ms": 600_000 })).await;
    assert_eq!(error_kind(&output), Some(ErrorKind::Timeout));
}

#[tokio::test]
async fn a_cancelled_call_ends_and_one_cancelled_before_its_start_has_no_effect() {
    let bed = Arc::new(TestBed::new());
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    let running = tokio::spawn({
        let (bed, options) = (Arc::clone(&bed), options.clone());
        async move { bed.call_with("diagnostic_sleep", json!({ "ms": 600_000 }), options).await }
    });
    tokio::task::yield_now().await;
    cancel.cancel();
    assert_eq!(error_kind(&running.await.unwrap()), Some(ErrorKind::Cancelled));
    let output = bed.call_with("diagnostic_panic", json!({ "message": "ran" }), options).await;
    assert_eq!(error_kind(&output), Some(ErrorKind::Cancelled));
}

#[tokio::test]
async fn closing_ends_running_calls_and_refuses_new_ones() {
    let bed = Arc::new(TestBed::new());
    let running = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.call("diagnostic_sleep", json!({ "ms": 600_000 })).await }
    });
    tokio::task::yield_now().await;
    bed.pipeline.close();
    assert_eq!(error_kind(&running.await.unwrap()), Some(ErrorKind::RegistryClosed));
    let late = bed.call("diagnostic_echo", json!({})).await;
    assert_eq!(error_kind(&late), Some(ErrorKind::RegistryClosed));
}

#[tokio::test]
async fn a_watched_call_reports_its_start_and_end() {
    let bed = TestBed::new();
    let news = Arc::new(Mutex::new(Vec::new()));
    let progress = ProgressSink::new({
        let news = Arc::clone(&news);
        move |it| news.lock().unwrap().push(it)
    });
    let options =
        CallOptions { progress, tool_use_id: Some("t1".to_owned()), ..CallOptions::default() };
    bed.call_with("diagnostic_sleep", json!({ "ms": 0 }), options).await;
    let news = news.lock().unwrap();
    let start =
        Progress::Start { tool: "diagnostic_sleep".to_owned(), tool_use_id: "t1".to_owned() };
    assert_eq!(news.first(), Some(&start));
    assert!(matches!(news.last(), Some(Progress::End { is_error: false, .. })), "{news:?}");
    assert_eq!(news.len(), 4, "{news:?}");
}

#[tokio::test]
async fn a_result_that_is_too_large_is_cut_at_a_line_with_a_note() {
    let bed = TestBed::with_limits(Limits { max_result_bytes: 10, ..Limits::default() });
    let output = bed.call("diagnostic_echo", json!({ "text": "abc\ndef\nghi\njkl" })).await;
    assert_eq!(
        output.joined_text(),
        "abc\ndef\n[result cut: 8 of 15 bytes of text are shown; ask for less at a time]"
    );
}

#[tokio::test]
async fn after_a_cancellation_the_other_calls_of_a_turn_fail() {
    let bed = TestBed::new();
    let cancel = CancellationToken::new();
    let calls: Vec<_> = ["a", "b", "c"]
        .map(|text| {
            let input = json!({ "text": text });
            (Some(text.to_owned()), Ok(ToolCall { name: "diagnostic_echo".to_owned(), input }))
        })
        .into();
    let progress = ProgressSink::new({
        let cancel = cancel.clone();
        move |it| {
            if matches!(&it, Progress::End { tool_use_id, .. } if tool_use_id == "b") {
                cancel.cancel();
            }
        }
    });
    let outputs = bed
        .pipeline
        .call_all(
            bed.pipeline.arrival("diagnostic_echo"),
            calls,
            CallOptions { cancel, progress, ..CallOptions::default() },
            TurnOrder::Serial,
        )
        .await;
    let kinds: Vec<_> = outputs.iter().map(error_kind).collect();
    assert_eq!(kinds, [None, None, Some(ErrorKind::Cancelled)]);
}
