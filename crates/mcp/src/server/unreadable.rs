//! Answers to texts that are not messages of the protocol. rmcp has no answers for them.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

/// The codes of JSON-RPC.
const NOT_JSON: i32 = -32700;
const NOT_A_MESSAGE: i32 = -32600;
const UNKNOWN_METHOD: i32 = -32601;

/// The answer to a text that could not be parsed, with its id if it has one.
pub(super) fn unreadable(text: &[u8], error: &serde_json::Error) -> String {
    if text.trim_ascii_start().starts_with(b"[") && is_json(text) {
        let problem = "a batch is not a message of the protocol; send its messages one by one";
        return answer(&Value::Null, NOT_A_MESSAGE, problem);
    }
    let code = if is_json(text) { NOT_A_MESSAGE } else { NOT_JSON };
    answer(&id_of(text), code, &format!("not a message of the protocol: {error}"))
}

/// The answer to an unknown method.
pub(super) fn unknown_method(id: &Value, problem: &str) -> String {
    answer(id, UNKNOWN_METHOD, problem)
}

/// The answer to a message that is longer than the limit.
pub(super) fn too_long(limit: usize) -> String {
    let problem = format!("the message is longer than {limit} bytes; send less at once");
    answer(&Value::Null, NOT_A_MESSAGE, &problem)
}

fn answer(id: &Value, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// The id of a message that cannot be parsed as a whole, so that the answer can name it.
fn id_of(message: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct MessageId {
        #[serde(default)]
        id: Value,
    }
    // The derived implementation would also accept an array.
    let is_object = message.trim_ascii_start().starts_with(b"{");
    let read = || serde_json::from_slice::<MessageId>(message).ok();
    let id = is_object.then(read).flatten().map_or(Value::Null, |it| it.id);
    if id.is_string() || id.is_number() { id } else { Value::Null }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_answer_has_the_right_code_and_the_id_of_the_message() {
        for (text, code, id) in [
            ("{", NOT_JSON, json!(null)),
            ("", NOT_JSON, json!(null)),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", NOT_A_MESSAGE, json!(null)),
            ("{\"id\":7}", NOT_A_MESSAGE, json!(7)),
            ("{\"id\":\"a\",\"method\":3}", NOT_A_MESSAGE, json!("a")),
            ("{\"id\":{}}", NOT_A_MESSAGE, json!(null)),
            ("3", NOT_A_MESSAGE, json!(null)),
        ] {
            let error = serde_json::from_str::<u8>("x").unwrap_err();
            let answer: Value = serde_json::from_str(&unreadable(text.as_bytes(), &error)).unwrap();
            let said = (answer.pointer("/error/code").unwrap(), answer.pointer("/id").unwrap());
            assert_eq!(said, (&json!(code), &id), "{text}");
        }
    }
}
