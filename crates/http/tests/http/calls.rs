//! The tools over REST: the list, calls, and what policy decides for them.

#![expect(clippy::indexing_slicing, reason = "tests")]

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use toolwright_pipeline::{CallOptions, ToolCall};
#[cfg(target_os = "linux")]
use toolwright_test_bed::{NONE_ALIVE, alive, marker};

use super::http_bed::{HttpBed, Reply, SOON, TOKEN, read_until};

/// The events in a chunked body.
fn events(reply: &Reply) -> Vec<(String, Value)> {
    let is_size = |it: &&str| !it.chars().all(|it| it.is_ascii_hexdigit() || it == '\r');
    let lines: Vec<&str> = reply.body.lines().filter(is_size).collect();
    let mut events = Vec::new();
    for pair in lines.windows(2) {
        if let (Some(name), Some(data)) =
            (pair[0].strip_prefix("event: "), pair[1].strip_prefix("data: "))
        {
            events.push((name.to_owned(), serde_json::from_str(data).unwrap()));
        }
    }
    events
}

#[tokio::test]
async fn the_list_is_the_same_as_in_the_registry() {
    let bed = HttpBed::new().await;
    bed.add_waiting_tool();
    let reply = bed.get("/api/tools").await;
    let infos = bed.registry.tool_infos();
    let count = infos.len();
    let counts = json!({ "total": count, "builtin": count - 1, "plugin": 0, "host": 1 });
    assert_eq!(reply.json(), json!({ "tools": infos, "counts": counts }));
    for expected in [
        "content-type: application/json",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(reply.head.contains(expected), "{}", reply.head);
    }
    let one = bed.get("/api/tools/FileRead").await;
    assert_eq!(one.json(), bed.registry.tool_info("Read").unwrap());
    let none = bed.get("/api/tools/Nothing").await;
    assert_eq!(none.refused(), (404, "UnknownTool".to_owned()));
    assert!(none.json()["error"].as_str().unwrap().contains("`Nothing`"));
}

#[tokio::test]
async fn the_list_is_updated_after_every_change() {
    let bed = HttpBed::new().await;
    let state_of_read = async || {
        let list = bed.get("/api/tools").await.json();
        assert_eq!(list["tools"], json!(bed.registry.tool_infos()));
        let tools = list["tools"].as_array().unwrap().clone();
        let read = tools.into_iter().find(|it| it["name"] == "Read").unwrap();
        (read["allowed"].as_bool().unwrap(), read["disabled"].as_bool().unwrap())
    };
    assert_eq!(state_of_read().await, (true, false));
    assert_eq!(state_of_read().await, (true, false));
    let tools = &bed.registry.pipeline.registry;
    tools.disable(&["Read".to_owned()]).unwrap();
    assert_eq!(state_of_read().await, (false, true));
    tools.enable(&["Read".to_owned()]).unwrap();
    assert_eq!(state_of_read().await, (true, false));
    bed.registry.set_policy(Some(json!({ "deny": ["Read"] }))).unwrap();
    assert_eq!(state_of_read().await, (false, false));
    bed.registry.set_policy(None).unwrap();
    assert_eq!(state_of_read().await, (true, false));
    bed.registry.set_session_mode("default", Some("dontAsk")).unwrap();
    state_of_read().await;
    bed.registry.set_session_mode("default", None).unwrap();
    bed.registry.limit_tools("default", &["Grep".to_owned()]).unwrap();
    assert_eq!(state_of_read().await, (false, false));
    bed.add_waiting_tool();
    state_of_read().await;
}

#[tokio::test]
async fn reload_reads_the_plugin_files_again() {
    let bed = HttpBed::new().await;
    let plugin = json!({ "name": "mine", "tools": [{
        "name": "hello",
        "description": "Says hello.",
        "inputSchema": { "type": "object", "properties": {} },
        "handler": { "type": "shell", "command": "echo hello" },
    }] });
    bed.write("plugins/mine.json", &plugin.to_string());
    bed.write("plugins/broken.json", "{");
    let before = bed.registry.names().len();
    assert_eq!(bed.get("/api/tools").await.json()["counts"]["plugin"], 0);
    let reloaded = bed.post("/api/tools/reload", &json!({})).await.json();
    assert_eq!(reloaded["success"], false);
    assert_eq!(reloaded["toolCount"], before + 1);
    assert!(reloaded["errors"][0]["source"].as_str().unwrap().ends_with("broken.json"));
    let list = bed.get("/api/tools").await.json();
    assert_eq!(list["counts"]["plugin"], 1);
    assert_eq!(bed.get("/api/tools/hello").await.json()["pluginName"], "mine");
}

#[tokio::test]
async fn a_call_has_the_same_result_as_in_the_registry() {
    let bed = HttpBed::new().await;
    let path = bed.write("project/a.txt", "one\ntwo\n");
    for (tool, input) in [
        ("Read", json!({ "file_path": path })),
        ("FileRead", json!({ "file_path": path, "limit": 1 })),
        ("Read", json!({ "file_path": path.join("x") })),
        ("Read", json!({ "nonsense": 1 })),
        ("Grep", json!({ "pattern": "two", "output_mode": "content" })),
        ("diagnostic_echo", json!({ "text": "ä\u{0}\u{1f600}\n" })),
    ] {
        let call = ToolCall { name: tool.to_owned(), input: input.clone() };
        let output = bed.registry.pipeline.call(call, CallOptions::default()).await;
        let expected = serde_json::to_string(&output.result_view()).unwrap();
        let reply = bed.post(&format!("/api/tools/{tool}/call"), &json!({ "input": input })).await;
        assert_eq!((reply.status, reply.body), (200, expected), "{tool} {input}");
    }
}

#[tokio::test]
async fn a_call_of_an_unknown_tool_is_not_found() {
    let bed = HttpBed::new().await;
    for path in ["/api/tools/Raed/call", "/api/tools/Raed/explain"] {
        let reply = bed.post(path, &json!({ "input": {} })).await;
        assert_eq!(reply.refused(), (404, "UnknownTool".to_owned()), "{path}");
        assert!(reply.json()["error"].as_str().unwrap().contains("Read"), "{reply:?}");
    }
}

#[tokio::test]
async fn an_invalid_body_is_refused_with_the_exact_cause() {
    let bed = HttpBed::new().await;
    let hint = r#"; send `{ "input": { … } }` with the tool's input inside"#;
    for (body, cause) in [
        ("", "the body is empty"),
        ("nonsense", "the body cannot be used: expected ident"),
        ("{", "the body cannot be used: EOF while parsing an object"),
        (
            r#"{"text":"a"}"#,
            "the body cannot be used: unknown field `text`, expected one of `input`, `sessionId`, `toolUseId`",
        ),
        ("[]", "the body is an array"),
        (
            "1",
            "the body cannot be used: invalid type: integer `1`, expected an object with the tool's input as `input`",
        ),
        (r#"{"input":{},"input":{}}"#, "the body cannot be used: duplicate field `input`"),
        (
            r#"{"sessionId":1}"#,
            "the body cannot be used: invalid type: integer `1`, expected a string",
        ),
        (r#"{"input":{}} x"#, "the body cannot be used: trailing characters"),
    ] {
        let reply = bed.post_text("/api/tools/diagnostic_echo/call", body).await;
        let expected = json!({ "error": format!("{cause}{hint}"), "type": "InvalidBody" });
        assert_eq!((reply.status, reply.json()), (400, expected), "{body}");
    }
    let unclosed = format!("{{\"input\":{}", "[".repeat(100_000));
    let reply = bed.post_text("/api/tools/diagnostic_echo/call", &unclosed).await;
    assert_eq!(reply.refused(), (400, "InvalidBody".to_owned()));
    // An error in the input itself is a result, as in any other call.
    let deep = format!("{{\"input\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let reply = bed.post_text("/api/tools/diagnostic_echo/call", &deep).await;
    assert_eq!(reply.json()["error"]["type"], "ValidationError");
    let empty = bed.post_text("/api/tools/diagnostic_echo/call", "{}").await;
    assert_eq!(empty.status, 200);
}

#[tokio::test]
async fn the_length_of_ids_is_limited() {
    let bed = HttpBed::new().await;
    let path = "/api/tools/diagnostic_echo/call";
    for field in ["sessionId", "toolUseId"] {
        let status = async |bytes: usize| {
            bed.post(path, &json!({ "input": {}, field: "x".repeat(bytes) })).await
        };
        assert_eq!(status(1_024).await.status, 200);
        let refused = status(1_025).await;
        assert_eq!(refused.refused(), (400, "InvalidBody".to_owned()));
        assert!(refused.body.contains(&format!("`{field}` has 1025 bytes")), "{refused:?}");
    }
}

#[tokio::test]
async fn a_call_belongs_to_the_session_in_its_body() {
    let bed = HttpBed::new().await;
    let path = bed.write("project/a.txt", "one\n");
    let read = json!({ "input": { "file_path": path }, "sessionId": "a", "toolUseId": "first" });
    assert_eq!(bed.post("/api/tools/Read/call", &read).await.json().get("isError"), None);
    let edit = |session: &str| {
        let input = json!({ "file_path": path, "old_string": "one", "new_string": "two" });
        json!({ "input": input, "sessionId": session })
    };
    let other = bed.post("/api/tools/Edit/call", &edit("b")).await.json();
    assert_eq!(other["error"]["type"], "NotReadError");
    let same = bed.post("/api/tools/Edit/call", &edit("a")).await.json();
    assert_eq!(same.get("isError"), None, "{same}");
}

#[tokio::test]
async fn progress_is_streamed_and_the_result_comes_last() {
    let bed = HttpBed::new().await;
    let mut headers = bed.usual_headers();
    headers.push(("content-type", "application/json".to_owned()));
    headers.push(("accept", "application/json;q=0.1, Text/Event-Stream".to_owned()));
    let body = json!({ "input": { "ms": 2, "steps": 2 }, "toolUseId": "it" }).to_string();
    let reply = bed.ask("POST", "/api/tools/diagnostic_sleep/call", &headers, &body).await;
    assert!(reply.head.contains("content-type: text/event-stream"), "{}", reply.head);
    let received: Vec<String> = events(&reply)
        .iter()
        .map(|(name, data)| format!("{name} {}", data["type"].as_str().unwrap_or("-")))
        .collect();
    let expected = [
        "progress start",
        "progress step",
        "progress output",
        "progress step",
        "progress output",
        "progress end",
        "result -",
    ];
    assert_eq!(received, expected);
    let (_, result) = events(&reply).pop().unwrap();
    assert_eq!(result, json!({ "content": [{ "type": "text", "text": "waited 2 ms" }] }));
    let reply = bed.ask("POST", "/api/tools/nothing/call", &headers, &body).await;
    assert_eq!(reply.refused(), (404, "UnknownTool".to_owned()));
}

#[tokio::test]
async fn disconnecting_cancels_the_call() {
    let bed = HttpBed::new().await;
    let waiting = bed.add_waiting_tool();
    for accept in ["", "accept: text/event-stream\r\n"] {
        let mut stream = bed.connect().await;
        let request = bed.call_head("wait", &format!("{accept}content-length: 2\r\n\r\n{{}}"));
        stream.write_all(request.as_bytes()).await.unwrap();
        waiting.begun(1).await;
        if !accept.is_empty() {
            read_until(&mut stream, r#""type":"start""#).await;
        }
        drop(stream);
        waiting.aborted(1).await;
        tokio::time::timeout(SOON, bed.registry.pipeline.calls_ended()).await.unwrap();
    }
    assert_eq!(bed.get("/health").await.status, 200);
}

#[tokio::test]
async fn disconnecting_cancels_the_call_even_after_the_client_sent_more() {
    let bed = HttpBed::new().await;
    let waiting = bed.add_waiting_tool();
    let next = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", bed.address());
    for accept in ["", "accept: text/event-stream\r\n"] {
        for more in ["\r\n", "G", &next] {
            let mut stream = bed.connect().await;
            let also = format!("{accept}content-length: 2\r\n\r\n{{}}{more}");
            stream.write_all(bed.call_head("wait", &also).as_bytes()).await.unwrap();
            waiting.begun(1).await;
            drop(stream);
            waiting.aborted(1).await;
        }
    }
    assert_eq!(bed.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_call_that_waits_for_a_permit_does_not_block_other_calls() {
    let bed = HttpBed::new().await;
    let waiting = bed.add_waiting_tool();
    let path = bed.write("project/a.txt", "one");
    let called = |tool: &str, input: Value| {
        let request = http::Request::builder()
            .method("POST")
            .uri(format!("/api/tools/{tool}/call"))
            .header("host", "localhost")
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(json!({ "input": input }).to_string()))
            .unwrap();
        let service = bed.service.clone();
        tokio::spawn(async move { service.answer(request).await.status() })
    };
    // As many calls as may run at the same time.
    let slow: Vec<_> = (0..1_024).map(|_| called("wait", json!({}))).collect();
    waiting.begun(1_024).await;
    let write = json!({ "file_path": path, "content": "two" });
    let late = called("Write", write.clone());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let own = ToolCall { name: "Write".to_owned(), input: write };
    let own = bed.registry.pipeline.call(own, CallOptions::default());
    tokio::time::timeout(SOON, own).await.unwrap();
    assert!(!late.is_finished());
    for call in slow {
        call.abort();
    }
    assert_eq!(tokio::time::timeout(SOON, late).await.unwrap().unwrap(), 200);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_whose_output_is_not_read_ends_when_its_client_disconnects() {
    let bed = HttpBed::new().await;
    let mut stream = bed.connect().await;
    let marker = marker();
    let body = json!({ "input": { "command": format!("yes {marker}") } }).to_string();
    let also = format!("accept: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(bed.call_head("Bash", &also).as_bytes()).await.unwrap();
    read_until(&mut stream, r#""type":"output""#).await;
    // It continues to write while its client does not read. Meanwhile the server answers other clients.
    for _ in 0..20 {
        assert_eq!(bed.get("/api/tools").await.status, 200);
    }
    assert_ne!(alive(&marker), NONE_ALIVE);
    drop(stream);
    tokio::time::timeout(SOON, bed.registry.pipeline.calls_ended()).await.unwrap();
    let gone = async {
        while alive(&marker) != NONE_ALIVE {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, gone).await.unwrap();
}

#[tokio::test]
async fn policy_explains_a_call_that_does_not_run() {
    let bed = HttpBed::new().await;
    bed.registry.set_policy(Some(json!({ "deny": ["Bash(rm *)"] }))).unwrap();
    let body = json!({ "input": { "command": "rm -rf build" } });
    let reply = bed.post("/api/tools/Bash/explain", &body).await;
    let call = ToolCall { name: "Bash".to_owned(), input: body["input"].clone() };
    let verdict = bed.registry.pipeline.explain(call, CallOptions::default()).unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!(verdict)));
    assert_eq!(reply.json()["action"], "deny");
    bed.registry.set_permission_mode("default").unwrap();
    let asked = json!({ "input": { "command": "touch a" } });
    let reply = bed.post("/api/tools/Bash/explain", &asked).await;
    assert_eq!((reply.status, reply.json()["action"].clone()), (200, json!("ask")));
    // A JSON parser would not notice a duplicate name.
    assert_eq!(reply.body.matches("\"suggestedRules\":").count(), 1, "{}", reply.body);
    let reply = bed.post("/api/tools/Bash/explain", &json!({ "input": { "cmd": 1 } })).await;
    assert_eq!(reply.refused(), (400, "ValidationError".to_owned()));
    let reply = bed.post("/api/tools/Bash/explain", &json!({ "toolUseId": "a" })).await;
    assert_eq!(reply.refused(), (400, "InvalidBody".to_owned()));
}

#[tokio::test]
async fn a_closed_registry_answers_no_call() {
    let bed = HttpBed::new().await;
    bed.registry.close();
    tokio::time::timeout(SOON, bed.server.ended()).await.unwrap();
    assert!(tokio::net::TcpStream::connect(bed.address()).await.is_err());
    let request = http::Request::post("http://localhost/api/tools/diagnostic_echo/call")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", super::http_bed::TOKEN))
        .body(axum::body::Body::from("{}"))
        .unwrap();
    assert_eq!(bed.service.answer(request).await.status(), 503);
}

#[tokio::test]
async fn other_paths_and_methods_are_refused_in_the_same_form() {
    let bed = HttpBed::new().await;
    assert_eq!(bed.get("/api/nothing").await.refused(), (404, "NotFound".to_owned()));
    assert_eq!(bed.get("/api/tools/%ff").await.refused(), (404, "NotFound".to_owned()));
    // `reload` is also a valid tool name, although the same path reloads the plugins.
    assert_eq!(bed.get("/api/tools/reload").await.refused(), (404, "UnknownTool".to_owned()));
    let reply = bed.get("/api/tools/Read/call").await;
    assert_eq!(reply.refused(), (405, "MethodNotAllowed".to_owned()));
    assert!(reply.head.contains("allow: post"), "{}", reply.head);
}
