//! The result of a call: one value with two views.
//!
//! `call` returns it in the shape of MCP, and an invocation's `execute` as `llmContent` and `returnDisplay`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ToolError;

/// One block of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Content {
    /// A text that the model reads.
    Text {
        /// The text.
        text: String,
    },
    /// An image that the model sees.
    Image {
        /// The bytes in base64.
        data: String,
        /// The MIME type, such as `image/png`.
        mime_type: String,
    },
    /// A block of another MCP type, passed on unchanged from the tool of a host or an MCP server.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Content {
    /// A block with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The result of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The blocks that the model gets, in order.
    pub content: Vec<Content>,
    /// The result as structured data, for programs.
    pub structured: Option<Value>,
    /// The text that a person is shown, if it is not the content.
    pub display: Option<String>,
    /// Further facts for programs, which the model never sees.
    pub meta: Map<String, Value>,
    /// Set when the call failed. The content then explains the error, or has what there was until then.
    pub error: Option<ToolError>,
    /// True when the content itself tells that the call failed, such as by an exit code.
    pub tells_failure: bool,
    /// Set when the remaining calls of the turn are not to be made; tells why.
    pub interrupt: Option<String>,
}

impl ToolOutput {
    /// A result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// The result of a failed call. The model gets the message, a person the details.
    pub fn failure(error: ToolError) -> Self {
        Self {
            content: vec![Content::text(&error.message)],
            display: error.details.as_ref().map(|it| it.for_people()),
            error: Some(error),
            ..Self::default()
        }
    }

    /// Sets the text that a person is shown.
    #[must_use]
    pub(crate) fn with_display(mut self, display: impl Into<String>) -> Self {
        self.display = Some(display.into());
        self
    }

    /// All text blocks as one text, with a note in place of every image.
    pub fn joined_text(&self) -> String {
        let mut joined = String::new();
        for block in &self.content {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            match block {
                Content::Text { text } => joined.push_str(text),
                Content::Image { data, mime_type } => {
                    joined
                        .push_str(&format!("[{mime_type} image, {} bytes in base64]", data.len()));
                }
                Content::Other(block) => {
                    let kind = block.get("type").and_then(Value::as_str).unwrap_or("unknown");
                    joined.push_str(&format!("[{kind} content]"));
                }
            }
        }
        joined
    }

    /// The result as `call` returns it: in the shape of MCP, with our additions.
    pub fn result_view(&self) -> ResultView<'_> {
        ResultView {
            content: &self.content,
            is_error: self.error.is_some(),
            structured_content: self.structured.as_ref(),
            display: self.display.as_deref(),
            error: self.error.as_ref(),
            meta: &self.meta,
        }
    }

    /// The result as an invocation's `execute` returns it.
    pub fn invocation_view(&self) -> InvocationView<'_> {
        let text = self.joined_text();
        match &self.error {
            // A host may forward `llmContent` without checking `error`, so the text has to tell the error.
            Some(error) => InvocationView {
                llm_content: if self.tells_failure {
                    text.clone()
                } else {
                    format!("Error: {text}")
                },
                return_display: Some(
                    self.display.as_deref().map_or_else(|| Cow::Owned(text), Cow::Borrowed),
                ),
                error: Some(error),
            },
            None => InvocationView {
                llm_content: text,
                return_display: self.display.as_deref().map(Cow::Borrowed),
                error: None,
            },
        }
    }
}

/// A result as `call` returns it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultView<'a, Block = Content> {
    /// The blocks that the model gets.
    pub content: &'a [Block],
    /// True when the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The result as structured data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<&'a Value>,
    /// The text that a person is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<&'a str>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a ToolError>,
    /// Further facts for programs.
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub meta: &'a Map<String, Value>,
}

/// A result as an invocation's `execute` returns it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvocationView<'a, Text = String> {
    /// The text for the model.
    pub llm_content: Text,
    /// The text that a person is shown, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_display: Option<Cow<'a, str>>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a ToolError>,
}

impl From<Result<ToolOutput, ToolError>> for ToolOutput {
    fn from(result: Result<ToolOutput, ToolError>) -> Self {
        result.unwrap_or_else(Self::failure)
    }
}
