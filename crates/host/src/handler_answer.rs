//! Converts the answer of a host's handler into the result of a call.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{AnswerData, Content, ToolOutput, kind_of};

use super::json_text::plain_cause;

/// The error of a call whose handler cannot be reached. An exception in a handler arrives as an answer instead.
pub(super) fn unreachable_host(name: &str) -> ToolError {
    ToolError::new(
        ErrorKind::ToolFailed,
        format!("tool `{name}` cannot be called: its JavaScript environment has ended"),
    )
}

/// The answer of a handler.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HandlerAnswer {
    content: Vec<Map<String, Value>>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    display: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: Map<String, Value>,
    #[serde(default)]
    error: Option<AnswerError>,
}

/// The error in the answer of a host's tool.
#[derive(Deserialize)]
pub(super) struct AnswerError {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: String,
    /// The details of a refusal that the tool passes on, for example from a built-in tool that it wraps.
    #[serde(default)]
    details: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerDetails {
    reason: String,
    how_to_allow: String,
    #[serde(default)]
    suggested_rules: Vec<String>,
}

impl From<AnswerError> for ToolError {
    fn from(error: AnswerError) -> Self {
        let kind = error.kind.as_deref();
        let kind = ErrorKind::ALL.iter().find(|it| Some(it.as_str()) == kind);
        let converted = Self::new(kind.copied().unwrap_or(ErrorKind::ToolFailed), error.message);
        // A host may use `details` for something else.
        match serde_json::from_value::<AnswerDetails>(error.details) {
            Ok(it) => converted.with_details(&it.reason, &it.how_to_allow, it.suggested_rules),
            Err(_) => converted,
        }
    }
}

/// Converts the answer of a handler into a result.
pub(super) fn output_of(answer: &str, name: &str) -> Result<ToolOutput, ToolError> {
    let answer: HandlerAnswer = serde_json::from_str(answer).map_err(|err| {
        ToolError::new(
            ErrorKind::ToolFailed,
            format!("tool `{name}` did not answer with a result: {}", plain_cause(&err)),
        )
    })?;
    // MCP allows only objects here, and its clients reject the whole answer otherwise.
    if let Some(other) = answer.structured_content.as_ref().filter(|it| !it.is_object()) {
        let message = format!(
            "tool `{name}` must answer structuredContent as an object, got {}",
            kind_of(other)
        );
        return Err(ToolError::new(ErrorKind::ToolFailed, message));
    }
    let content: Vec<Content> = answer.content.into_iter().map(content_of).collect();
    let mut output = ToolOutput {
        content,
        structured: answer.structured_content.and_then(|it| AnswerData::of(&it).ok()),
        display: answer.display,
        meta: answer.meta,
        ..ToolOutput::default()
    };
    output.error = match answer.error {
        Some(error) => Some(ToolError::from(error)),
        None if answer.is_error => {
            let text = output.joined_text();
            let message = if text.is_empty() { "the tool failed without a message" } else { &text };
            Some(ToolError::new(ErrorKind::ToolFailed, message))
        }
        None => None,
    };
    if output.content.is_empty()
        && let Some(error) = &output.error
    {
        output.content.push(Content::text(&error.message));
    }
    Ok(output)
}

/// Converts text and image blocks. Blocks with more or other fields are passed on unchanged.
fn content_of(mut block: Map<String, Value>) -> Content {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_text = |key: &str| block.get(key).is_some_and(Value::is_string);
    let shape =
        (kind.as_str(), block.len(), is_text("text"), is_text("data") && is_text("mimeType"));
    let mut take = |key: &str| match block.remove(key) {
        Some(Value::String(text)) => text,
        other => other.unwrap_or_default().to_string(),
    };
    match shape {
        ("text", 2, true, _) | ("text", _, false, _) => Content::Text { text: take("text") },
        ("image", 3, _, true) => Content::Image { data: take("data"), mime_type: take("mimeType") },
        _ => Content::Other(block),
    }
}
