//! Lists of tools and outputs: pages, limits to the client's session, and notifications of changes.

#![expect(clippy::indexing_slicing, reason = "tests")]

use futures_util::StreamExt as _;
use http::Request;
use serde_json::{Value, json};

use super::mcp_bed::{McpBed, in_session, request, text};

/// Reads the messages of a stream until one has this method.
async fn until_notified(body: axum::body::Body, method: &str) -> Value {
    let (mut chunks, mut text) = (body.into_data_stream(), String::new());
    loop {
        let chunk = chunks.next().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        let data = text.lines().filter_map(|it| it.strip_prefix("data:")).map(str::trim);
        for data in data.filter(|it| !it.is_empty()) {
            let Ok(message) = serde_json::from_str::<Value>(data) else { continue };
            if message["method"] == method {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn clients_of_both_eras_are_notified_when_a_tool_is_disabled() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let listen = Request::get("/mcp")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &session)
        .body(axum::body::Body::empty());
    let old = bed.service.answer(listen.unwrap()).await;
    let new = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let new = bed.post_new("subscriptions/listen", new).await;
    assert_eq!((old.status().as_u16(), new.status().as_u16()), (200, 200));
    let change = async {
        // Repeated until both are notified, because it is not known when a subscription takes effect.
        for round in 0.. {
            let names = ["Bash".to_owned()];
            if round % 2 == 0 {
                bed.registry.pipeline.registry.disable(&names).unwrap();
            } else {
                bed.registry.pipeline.registry.enable(&names).unwrap();
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let method = "notifications/tools/list_changed";
    let both = async {
        tokio::join!(
            until_notified(old.into_body(), method),
            until_notified(new.into_body(), method)
        )
    };
    let (_, new) = tokio::select! {
        notified = both => notified,
        () = change => unreachable!(),
    };
    assert!(new.pointer("/params/_meta").is_some(), "{new}");
}

#[tokio::test]
async fn a_wrong_cursor_is_refused() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let refused = bed.ask(&session, method, json!({ "cursor": "nonsense" })).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32602)), "{refused}");
        let refused = bed.ask_new(method, json!({ "cursor": "nonsense" })).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32602)), "{refused}");
    }
}

#[tokio::test]
async fn unsupported_methods_are_unknown() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" },
    });
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "x" })),
        ("completion/complete", complete),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "toolwright://task/x/output" })),
        ("made/up", json!({})),
    ] {
        let refused = bed.ask(&session, method, params.clone()).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32601)), "{method}: {refused}");
        let refused = bed.ask_new(method, params).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32601)), "{method}: {refused}");
    }
}

#[tokio::test]
async fn the_output_of_a_task_is_a_resource_of_its_session_only() {
    let bed = McpBed::new();
    let (session, other) = (bed.session(json!({})).await, bed.session(json!({})).await);
    let command = json!({ "command": "seq 1 40000", "run_in_background": true });
    let params = json!({ "name": "Bash", "arguments": command });
    let started = bed.ask(&session, "tools/call", params).await;
    assert!(!text(&started).is_empty());
    let task = bed.registry.pipeline.sessions.tasks().list().pop().unwrap();
    task.output_beyond(u64::MAX).await;
    let listed = bed.ask(&session, "resources/list", json!({})).await;
    let resource = listed.pointer("/result/resources/0").unwrap();
    assert!(resource["title"].as_str().unwrap().contains("seq 1 40000"), "{resource}");
    let uri = resource["uri"].as_str().unwrap().to_owned();
    assert_eq!(uri, format!("toolwright://task/{}/output", task.id));
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let part = json!({ "uri": format!("{uri}?offset={offset}") });
        let read = bed.ask(&session, "resources/read", part).await;
        let contents = read.pointer("/result/contents/0").unwrap();
        let part = contents["text"].as_str().unwrap();
        assert!(part.len() <= 64 * 1024);
        whole.push_str(part);
        let facts = contents.pointer("/_meta/toolwright~1output").unwrap();
        if facts["isComplete"] == true {
            break;
        }
        assert!(facts["nextOffset"].as_u64().unwrap() > offset, "{facts}");
        offset = facts["nextOffset"].as_u64().unwrap();
    }
    let wanted: Vec<String> = (1..=40_000).map(|it| it.to_string()).collect();
    let wanted = wanted.join("\n");
    assert_eq!(whole.trim_end(), wanted.trim_end());
    let listed = bed.ask(&other, "resources/list", json!({})).await;
    assert_eq!(listed.pointer("/result/resources"), Some(&json!([])));
    let templates = bed.ask(&other, "resources/templates/list", json!({})).await;
    let first = templates.pointer("/result/resourceTemplates/0/uriTemplate").unwrap();
    assert_eq!(first, "toolwright://task/{id}/output{?offset}");
    for (asking, uri) in [
        (&other, uri.as_str()),
        (&session, "toolwright://task/none/output"),
        (&session, "toolwright://task/../output"),
        (&session, "toolwright://output/..%2f..%2fetc%2fpasswd"),
        (&session, &format!("{uri}?offset=x")),
        (&session, &format!("{uri}?limit=1")),
        (&session, "file:///etc/passwd"),
        (&session, "not a uri"),
    ] {
        let refused = bed.ask(asking, "resources/read", json!({ "uri": uri })).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32002)), "{uri}: {refused}");
    }
    let refused = bed.ask_new("resources/read", json!({ "uri": uri })).await;
    assert_eq!(refused.pointer("/error/code"), Some(&json!(-32602)), "{refused}");
    assert_eq!(refused.pointer("/error/data/uri"), Some(&json!(uri)));
}

#[tokio::test]
async fn output_that_is_too_long_for_the_answer_is_a_resource() {
    let bed = McpBed::new();
    let session = bed.session(json!({})).await;
    let params = json!({ "name": "Bash", "arguments": { "command": "seq 1 100000" } });
    let done = bed.ask(&session, "tools/call", params).await;
    let listed = bed.ask(&session, "resources/list", json!({})).await;
    let uri = listed.pointer("/result/resources/0/uri").unwrap().as_str().unwrap();
    let file = uri.strip_prefix("toolwright://output/").unwrap();
    assert!(text(&done).contains(file), "{uri}");
    let read = bed.ask(&session, "resources/read", json!({ "uri": uri })).await;
    let part = read.pointer("/result/contents/0/text").unwrap().as_str().unwrap();
    assert!(part.starts_with("1\n2\n3\n"));
}

#[tokio::test]
async fn a_handshake_of_the_new_era_is_an_unknown_method() {
    let bed = McpBed::new();
    let params = json!({
        "protocolVersion": "2026-07-28", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "initialize")];
    let answer = bed.post(&headers, request(1, "initialize", params)).await;
    assert_eq!(answer.status(), 404);
    let message = super::mcp_bed::last_message(answer).await;
    assert_eq!(message.pointer("/error/code"), Some(&json!(-32601)));
    let unknown = bed.post(&in_session("unknown"), request(1, "ping", json!({}))).await;
    assert_eq!(unknown.status(), 404);
}
