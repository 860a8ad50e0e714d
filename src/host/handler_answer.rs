//! Turns what a handler of the host answers into the result of a call.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::json_text::plain_cause;
use crate::{
    error::{ErrorKind, ToolError},
    tool::{AnswerData, Content, ToolOutput, kind_of},
};

/// The error of a call whose handler cannot be reached. Whatever a handler throws arrives as an answer.
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

/// What a tool of a host says of its failure.
#[derive(Deserialize)]
pub(super) struct AnswerError {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: String,
    /// Of a refusal that it met with itself, such as one of a built-in tool that it wraps.
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
        let told = Self::new(kind.copied().unwrap_or(ErrorKind::ToolFailed), error.message);
        // A host may mean something else by the name.
        match serde_json::from_value::<AnswerDetails>(error.details) {
            Ok(it) => told.with_details(&it.reason, &it.how_to_allow, it.suggested_rules),
            Err(_) => told,
        }
    }
}

/// Turns the answer of a handler into a result.
pub(super) fn output_of(answer: &str, name: &str) -> Result<ToolOutput, ToolError> {
    let answer: HandlerAnswer = serde_json::from_str(answer).map_err(|err| {
        ToolError::new(
            ErrorKind::ToolFailed,
            format!("tool `{name}` did not answer with a result: {}", plain_cause(&err)),
        )
    })?;
    // The Model Context Protocol has objects alone here, and its clients refuse the whole answer otherwise.
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

/// A block of one of the two kinds we know; what has more or other fields is passed on as it came.
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
