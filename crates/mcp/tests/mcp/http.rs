//! MCP over HTTP: sessions of the old era, single requests of the new era, and invalid messages.

#![expect(clippy::indexing_slicing, reason = "tests")]

use futures_util::StreamExt as _;
use http::Request;
use serde_json::{Value, json};

use super::mcp_bed::{McpBed, in_session, last_message, messages, request, text};

fn read(path: &std::path::Path) -> Value {
    json!({ "name": "Read", "arguments": { "file_path": path } })
}

#[tokio::test]
async fn both_eras_list_and_call_the_same_tools() {
    let bed = McpBed::new();
    let file = bed.write("a.txt", "alpha\n");
    let session = bed.session(json!({})).await;
    let old = bed.ask(&session, "tools/list", json!({})).await;
    let new = bed.ask_new("tools/list", json!({})).await;
    let names = |it: &Value| -> Vec<String> {
        let tools = it.pointer("/result/tools").unwrap().as_array().unwrap();
        tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&old).contains(&"Read".to_owned()));
    assert_eq!(names(&old), names(&new));
    let old = bed.ask(&session, "tools/call", read(&file)).await;
    let new = bed.ask_new("tools/call", read(&file)).await;
    assert_eq!(text(&old), text(&new));
    assert!(text(&old).contains("alpha"));
    let discovered = bed.ask_new("server/discover", json!({})).await;
    let server = discovered.pointer("/result/_meta/io.modelcontextprotocol~1serverInfo/name");
    assert_eq!(server, Some(&json!("toolwright")), "{discovered}");
}

#[tokio::test]
async fn a_read_counts_only_in_the_session_of_the_client() {
    let bed = McpBed::new();
    let file = bed.write("a.txt", "alpha\n");
    let write = json!({ "name": "Write", "arguments": { "file_path": file, "content": "b" } });
    let (first, second) = (bed.session(json!({})).await, bed.session(json!({})).await);
    bed.ask(&first, "tools/call", read(&file)).await;
    let refused = bed.ask(&second, "tools/call", write.clone()).await;
    assert_eq!(refused.pointer("/result/isError"), Some(&json!(true)), "{refused}");
    let written = bed.ask(&first, "tools/call", write).await;
    assert_ne!(written.pointer("/result/isError"), Some(&json!(true)), "{written}");
}

#[tokio::test]
async fn deleting_a_session_ends_its_calls() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let arguments = json!({ "command": "echo begun; sleep 600" });
    let params = json!({
        "name": "Bash", "arguments": arguments, "_meta": { "progressToken": 1 },
    });
    let answer = bed.post(&in_session(&session), request(2, "tools/call", params)).await;
    let delete = Request::delete("/mcp").header("host", "localhost");
    let delete = delete.header("mcp-session-id", &session).body(axum::body::Body::empty());
    assert_eq!(bed.service.answer(delete.unwrap()).await.status(), 202);
    // The stream ends, because all its senders are gone.
    messages(answer).await;
    bed.registry.pipeline.calls_ended().await;
    let later = bed.post(&in_session(&session), request(3, "ping", json!({}))).await;
    assert_eq!(later.status(), 404);
}

#[tokio::test]
async fn in_the_new_era_disconnecting_ends_the_call() {
    let bed = McpBed::new();
    let params = json!({ "name": "Bash", "arguments": { "command": "touch begun; sleep 600" } });
    let asking = bed.post_new("tools/call", params);
    let begun = async {
        while !bed.root().join("begun").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        answer = asking => panic!("answered with {}", answer.status()),
        () = begun => {}
    }
    bed.registry.pipeline.calls_ended().await;
}

#[tokio::test]
async fn closing_the_registry_ends_sessions_and_streams() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let listen = Request::get("/mcp").header("host", "localhost");
    let listen = listen.header("accept", "text/event-stream").header("mcp-session-id", &session);
    let listen = bed.service.answer(listen.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(listen.status(), 200);
    bed.registry.close();
    let mut stream = listen.into_body().into_data_stream();
    while stream.next().await.is_some() {}
    let later = bed.post(&in_session(&session), request(3, "ping", json!({}))).await;
    assert_eq!(later.status(), 503);
    assert_eq!(last_message(later).await["type"], "RegistryClosed");
}

#[tokio::test]
async fn invalid_messages_are_answered_with_json_rpc_error_codes() {
    let bed = McpBed::new();
    for (body, status, code) in [
        ("{".to_owned(), 400, -32700),
        ("[]".to_owned(), 400, -32600),
        (format!("[{}]", request(1, "ping", json!({}))), 400, -32600),
        (json!({ "id": 1 }).to_string(), 400, -32600),
    ] {
        let answer = bed.post(&[], body.clone()).await;
        assert_eq!(answer.status(), status, "{}", &body[..body.len().min(80)]);
        let message = last_message(answer).await;
        assert_eq!(message.pointer("/error/code"), Some(&json!(code)), "{message}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let bed = McpBed::new();
    let answer = bed.post(&[], format!("\"{}\"", "x".repeat(9 << 20))).await;
    assert_eq!(answer.status(), 413);
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_the_first_request_is_answered() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let command = "until [ -e go ]; do sleep 0.01; done; echo first";
    let slow = json!({ "name": "Bash", "arguments": { "command": command } });
    let first = bed.post(&in_session(&session), request(7, "tools/call", slow)).await;
    let refused =
        last_message(bed.post(&in_session(&session), request(7, "ping", json!({}))).await);
    let refused = refused.await;
    assert_eq!(refused.pointer("/error/code"), Some(&json!(-32600)), "{refused}");
    bed.write("go", "");
    assert!(text(&last_message(first).await).contains("first"));
    let later = last_message(bed.post(&in_session(&session), request(7, "ping", json!({}))).await);
    assert_eq!(later.await["result"], json!({}));
}

#[tokio::test]
async fn the_id_of_a_call_stays_in_use_after_a_disconnect_until_the_call_ends() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let command = "touch begun; until [ -e go ]; do sleep 0.01; done";
    let slow = json!({ "name": "Bash", "arguments": { "command": command } });
    drop(bed.post(&in_session(&session), request(7, "tools/call", slow)).await);
    while !bed.root().join("begun").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let ping = async || {
        last_message(bed.post(&in_session(&session), request(7, "ping", json!({}))).await).await
    };
    assert_eq!(ping().await.pointer("/error/code"), Some(&json!(-32600)));
    bed.write("go", "");
    bed.registry.pipeline.calls_ended().await;
    // The answer is still being delivered, although its client is gone.
    while ping().await["result"] != json!({}) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_257th_session_ends_the_least_recently_used_one() {
    let bed = McpBed::new();
    let first = bed.session(json!({})).await;
    let second = bed.session(json!({})).await;
    for _ in 0..255 {
        bed.session(json!({})).await;
    }
    for (session, status) in [(first, 404), (second, 200)] {
        let answer = bed.post(&in_session(&session), request(3, "ping", json!({}))).await;
        assert_eq!(answer.status(), status);
    }
}
