//! Converts a server's answer to a call into the result of a tool.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{AnswerData, Content, ToolOutput};

/// Converts the answer of a server into a result. The pipeline limits its size.
pub(super) fn output_of(answer: CallToolResult) -> ToolOutput {
    let CallToolResult { content, structured_content, is_error, meta, .. } = answer;
    let mut output = ToolOutput {
        content: content.into_iter().map(content_of).collect(),
        // For a long time the protocol allowed only objects here, and our clients rely on that.
        structured: structured_content
            .filter(Value::is_object)
            .and_then(|it| AnswerData::of(&it).ok()),
        meta: meta.map(|it| it.0.into_iter().collect::<Map<_, _>>()).unwrap_or_default(),
        ..ToolOutput::default()
    };
    if is_error == Some(true) {
        let text = output.joined_text();
        let message = if text.is_empty() { "the tool failed without a message" } else { &text };
        let error = ToolError::new(ErrorKind::ToolFailed, message);
        if output.content.is_empty() {
            output.content.push(Content::text(&error.message));
        }
        output.error = Some(error);
        output.structured = None;
    } else if output.content.is_empty()
        && let Some(data) = &output.structured
    {
        // Models read only the content, so the data are repeated there.
        output.content.push(Content::text(data.text()));
    }
    output
}

fn content_of(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(it) => Content::Text { text: it.text },
        ContentBlock::Image(it) => Content::Image { data: it.data, mime_type: it.mime_type },
        other => match serde_json::to_value(&other) {
            Ok(Value::Object(block)) => Content::Other(block),
            Ok(_) | Err(_) => Content::text("[a block that cannot be shown]"),
        },
    }
}
