//! Confirmations by the client's user, in both eras of the protocol.

#![expect(clippy::panic, reason = "tests")]

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::mcp_bed::{McpBed, in_session, last_message, request, text};

/// A registry that asks before every command, with half a minute to answer.
fn bed() -> McpBed {
    McpBed::with(json!({ "limits": { "confirmationTimeoutMs": 30_000 } }))
}

fn touch() -> Value {
    json!({ "name": "Bash", "arguments": { "command": "touch made" } })
}

fn is_made(bed: &McpBed) -> bool {
    bed.root().join("made").exists()
}

fn is_refused(message: &Value) -> bool {
    message.pointer("/result/isError") == Some(&json!(true))
}

/// Makes a call in a session and answers its question. Returns the question and the result of the call.
async fn asked(bed: &McpBed, answer: &dyn Fn(&Value) -> Option<Value>) -> (Value, Value) {
    let session = bed.session(json!({ "elicitation": {} })).await;
    let response = bed.post(&in_session(&session), request(7, "tools/call", touch())).await;
    let mut chunks = response.into_body().into_data_stream();
    let (mut text, mut question) = (String::new(), Value::Null);
    while let Some(chunk) = chunks.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        while let Some(end) = text.find("\n\n") {
            let event: String = text.drain(..end + 2).collect();
            let data = event.lines().find_map(|it| it.strip_prefix("data:")).map(str::trim);
            let Some(data) = data.filter(|it| !it.is_empty()) else { continue };
            let message: Value = serde_json::from_str(data).unwrap();
            match message.get("method").and_then(Value::as_str) {
                Some("elicitation/create") => {
                    if let Some(answer) = answer(&message) {
                        let accepted = bed.post(&in_session(&session), answer.to_string()).await;
                        assert_eq!(accepted.status(), 202);
                    }
                    question = message;
                }
                Some(_) => {}
                None => return (question, message),
            }
        }
    }
    panic!("no result arrived; the question was {question}");
}

fn elicited(question: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

#[tokio::test]
async fn approval_in_the_form_lets_the_call_run() {
    let bed = bed();
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let (question, result) = asked(&bed, &|it| Some(elicited(it, &yes))).await;
    let shown = question.pointer("/params/message").unwrap().as_str().unwrap();
    assert!(shown.contains("touch made"), "{shown}");
    let schema = question.pointer("/params/requestedSchema").unwrap();
    assert_eq!(schema["required"], json!(["approve"]));
    assert!(!is_refused(&result), "{result}");
    assert!(is_made(&bed));
}

#[tokio::test]
async fn every_other_answer_refuses_the_call() {
    for (answer, why) in [
        (
            json!({ "action": "accept", "content": { "approve": false, "reason": "not now" } }),
            "not now",
        ),
        (json!({ "action": "accept", "content": {} }), "said no"),
        (json!({ "action": "accept", "content": { "approve": "true" } }), "said no"),
        (json!({ "action": "decline" }), "said no"),
        (json!({ "action": "cancel", "content": { "approve": true } }), "said no"),
        (json!({ "unexpected": true }), "said no"),
    ] {
        let bed = bed();
        let (_, result) = asked(&bed, &|it| Some(elicited(it, &answer))).await;
        assert!(is_refused(&result), "{answer}: {result}");
        assert!(text(&result).contains(why), "{answer}: {result}");
        assert!(!is_made(&bed), "{answer}");
    }
    let bed = bed();
    let error = json!({ "code": -32603, "message": "no window" });
    let failed = |it: &Value| Some(json!({ "jsonrpc": "2.0", "id": it["id"], "error": error }));
    let (_, result) = asked(&bed, &failed).await;
    assert!(text(&result).contains("could not ask"), "{result}");
    assert!(!is_made(&bed));
}

#[tokio::test]
async fn a_question_without_an_answer_times_out() {
    let bed = McpBed::with(json!({ "limits": { "confirmationTimeoutMs": 50 } }));
    let (question, result) = asked(&bed, &|_| None).await;
    assert!(question.is_object());
    assert!(text(&result).contains("was not confirmed"), "{result}");
    assert!(!is_made(&bed));
}

#[tokio::test]
async fn always_allow_applies_to_later_calls_like_it() {
    let bed = bed();
    let always = json!({ "action": "accept", "content": { "approve": true, "always": true } });
    asked(&bed, &|it| Some(elicited(it, &always))).await;
    std::fs::remove_file(bed.root().join("made")).unwrap();
    let session = bed.session(json!({})).await;
    let again = bed.ask(&session, "tools/call", touch()).await;
    // The grant applies to the registry or only to the session that asked. In both cases it allows nothing else.
    let other = json!({ "name": "Bash", "arguments": { "command": "touch other" } });
    let other = bed.ask(&session, "tools/call", other).await;
    assert!(is_refused(&other), "{other}");
    assert_eq!(is_refused(&again), !is_made(&bed));
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused_with_the_reason() {
    let bed = bed();
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let session = bed.session(capabilities).await;
        let result = bed.ask(&session, "tools/call", touch()).await;
        assert!(text(&result).contains("needs a confirmation"), "{result}");
    }
    let result = bed.ask_new("tools/call", touch()).await;
    assert!(text(&result).contains("needs a confirmation"), "{result}");
    assert!(!is_made(&bed));
}

/// A call of the new era by a client that can ask its user, with further parameters.
async fn call_new(bed: &McpBed, more: Value) -> Value {
    let mut params = touch();
    let own = params.as_object_mut().unwrap();
    own.insert(
        "_meta".to_owned(),
        json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } }),
    );
    for (name, value) in more.as_object().unwrap() {
        own.insert(name.clone(), value.clone());
    }
    last_message(bed.post_new("tools/call", params).await).await
}

fn state_of(message: &Value) -> &str {
    let result = &message["result"];
    assert_eq!(result["resultType"], "input_required", "{message}");
    let method = result.pointer("/inputRequests/confirmation/method");
    assert_eq!(method, Some(&json!("elicitation/create")), "{message}");
    result["requestState"].as_str().unwrap()
}

#[tokio::test]
async fn in_the_new_era_the_client_calls_again_with_the_answer() {
    let bed = bed();
    let first = call_new(&bed, json!({})).await;
    let state = state_of(&first);
    assert!(!is_made(&bed));
    let yes = json!({ "confirmation": { "action": "accept", "content": { "approve": true } } });
    let retry = json!({ "requestState": state, "inputResponses": yes });
    let done = call_new(&bed, retry.clone()).await;
    assert!(!is_refused(&done) && is_made(&bed), "{done}");
    // An approval counts once.
    let replayed = call_new(&bed, retry).await;
    assert_eq!(replayed.pointer("/error/code"), Some(&json!(-32602)), "{replayed}");
}

#[tokio::test]
async fn in_the_new_era_only_the_answer_to_this_question_lets_the_call_run() {
    let bed = bed();
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let responses = json!({ "confirmation": yes });
    // Without a state, or with an unknown one, an approval is ignored.
    let unasked = call_new(&bed, json!({ "inputResponses": responses })).await;
    state_of(&unasked);
    let forged = json!({ "requestState": "forged", "inputResponses": responses });
    let forged = call_new(&bed, forged).await;
    assert_eq!(forged.pointer("/error/code"), Some(&json!(-32602)), "{forged}");
    // The approval of one call does not approve another one.
    let first = call_new(&bed, json!({})).await;
    let other = json!({
        "arguments": { "command": "touch made more" },
        "requestState": state_of(&first),
        "inputResponses": responses,
    });
    state_of(&call_new(&bed, other).await);
    // An answer under another key is ignored.
    let first = call_new(&bed, json!({})).await;
    let else_answered = json!({ "requestState": state_of(&first), "inputResponses": { "x": yes } });
    state_of(&call_new(&bed, else_answered).await);
    for rubbish in [json!(5), json!({ "confirmation": 5 }), json!({ "confirmation": {} })] {
        let first = call_new(&bed, json!({})).await;
        let retry = json!({ "requestState": state_of(&first), "inputResponses": rubbish });
        let refused = call_new(&bed, retry).await;
        assert_eq!(refused.pointer("/error/code"), Some(&json!(-32602)), "{refused}");
    }
    let first = call_new(&bed, json!({})).await;
    let no = json!({ "confirmation": { "action": "decline" } });
    let no = json!({ "requestState": state_of(&first), "inputResponses": no });
    let refused = call_new(&bed, no).await;
    assert!(text(&refused).contains("said no"), "{refused}");
    assert!(!is_made(&bed));
}
