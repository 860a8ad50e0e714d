//! What a call answers: one value, seen in two ways.
//!
//! `call` shows it MCP-shaped, an invocation's `execute` as `llmContent` and `returnDisplay`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::ToolError;

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// A picture for the model.
    Image {
        /// The bytes in base64.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A block of another MCP kind, passed on as it came from the tool of a host or a server.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The answer of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads, in order.
    pub content: Vec<Content>,
    /// The same facts as data, where that serves a program better than the text.
    pub structured: Option<Value>,
    /// What a person is shown, where it is not the text itself.
    pub display: Option<String>,
    /// Facts about the answer for programs; never shown to the model.
    pub meta: Map<String, Value>,
    /// Set when the call failed; the content then explains it or carries what there was.
    pub error: Option<ToolError>,
}

impl ToolOutput {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// The answer of a failed call: the message is what the model reads.
    pub fn failure(error: ToolError) -> Self {
        Self { content: vec![Content::text(&error.message)], error: Some(error), ..Self::default() }
    }

    /// Sets what a person is shown.
    #[must_use]
    pub fn with_display(mut self, display: impl Into<String>) -> Self {
        self.display = Some(display.into());
        self
    }

    /// All text blocks in one, with a word where a picture stands.
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

    /// The view of `call`: MCP's result with our additions.
    pub fn to_result_json(&self) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct View<'a> {
            content: &'a [Content],
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            is_error: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            structured_content: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            display: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a ToolError>,
            #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
            meta: &'a Map<String, Value>,
        }
        let view = View {
            content: &self.content,
            is_error: self.error.is_some(),
            structured_content: self.structured.as_ref(),
            display: self.display.as_deref(),
            error: self.error.as_ref(),
            meta: &self.meta,
        };
        serde_json::to_string(&view).unwrap_or_else(|err| unserialisable(&err))
    }

    /// The view of an invocation's `execute`.
    pub fn to_invocation_json(&self) -> String {
        let text = self.joined_text();
        let mut view = match &self.error {
            // A host that forwards `llmContent` without a look at `error` must not hand on silence.
            Some(_) => json!({ "llmContent": format!("Error: {text}"), "returnDisplay": text }),
            None => json!({
                "returnDisplay": self.display.as_deref().unwrap_or(&text),
                "llmContent": text,
            }),
        };
        if let (Some(error), Some(view)) = (&self.error, view.as_object_mut()) {
            view.insert("error".to_owned(), json!(error));
        }
        view.to_string()
    }
}

impl From<Result<ToolOutput, ToolError>> for ToolOutput {
    fn from(result: Result<ToolOutput, ToolError>) -> Self {
        result.unwrap_or_else(Self::failure)
    }
}

fn unserialisable(err: &serde_json::Error) -> String {
    json!({
        "content": [{ "type": "text", "text": format!("the result cannot be written as JSON: {err}") }],
        "isError": true,
    })
    .to_string()
}
