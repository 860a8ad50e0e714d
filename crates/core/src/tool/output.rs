//! The result of a call: one value with two views.
//!
//! `call` returns it in the shape of MCP. An invocation's `execute` returns it as `llmContent` and
//! `returnDisplay`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};
use toolwright_base::ToolError;

use super::answer_data::AnswerData;

/// One block of a result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

/// The text for an image where it cannot be shown.
pub fn image_in_words(data: &str, mime_type: &str) -> String {
    format!("[{mime_type} image, {} bytes in base64]", data.len())
}

/// The text a person is shown for an empty result.
const NO_OUTPUT: &str = "(no output)";

/// The result of one call. A tool returns its data as its own type; everywhere else they are JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput<Data = AnswerData> {
    /// The content for the model, in order.
    pub content: Vec<Content>,
    /// The facts as data for programs.
    pub structured: Option<Data>,
    /// The text for a person, if it differs from the content.
    pub display: Option<String>,
    /// Further facts for programs. The model never sees them.
    pub meta: Map<String, Value>,
    /// Set when the call failed. The content then explains the error, or is the output until the
    /// failure.
    pub error: Option<ToolError>,
    /// True when the content itself says that the call failed, for example with an exit code.
    pub names_failure: bool,
    /// Why the remaining calls of the turn must not be made, if so.
    pub interrupt: Option<String>,
    /// True when the content says something that the data lack, such as a message to the model. A
    /// client that shows a model the data instead of the content must show this too.
    pub has_news_in_text: bool,
}

/// The data type of results without data. It has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum NoData {}

impl JsonSchema for NoData {
    fn schema_name() -> Cow<'static, str> {
        "NoData".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        false.into()
    }
}

impl<Data> Default for ToolOutput<Data> {
    fn default() -> Self {
        Self {
            content: Vec::new(),
            structured: None,
            display: None,
            meta: Map::new(),
            error: None,
            names_failure: false,
            interrupt: None,
            has_news_in_text: false,
        }
    }
}

impl<Data> ToolOutput<Data> {
    /// A result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// Sets the data.
    #[must_use]
    pub fn with_data(mut self, data: Data) -> Self {
        self.structured = Some(data);
        self
    }

    /// Sets the text that a person is shown.
    #[must_use]
    pub fn with_display(mut self, display: impl Into<String>) -> Self {
        self.display = Some(display.into());
        self
    }

    /// The text for a person where it differs from the content. It is never empty, so that a result is
    /// not mistaken for a missing one.
    pub fn shown_to_people(&self) -> Option<String> {
        let is_said = |it: &&str| !it.trim().is_empty();
        if let Some(own) = self.display.as_deref().filter(is_said) {
            return Some(own.to_owned());
        }
        let content_says_something = self.content.iter().any(|block| match block {
            Content::Text { text } => is_said(&text.as_str()),
            Content::Image { .. } | Content::Other(_) => true,
        });
        let failure = self.error.as_ref().map(|it| it.message.as_str()).filter(is_said);
        (!content_says_something).then(|| failure.unwrap_or(NO_OUTPUT).to_owned())
    }

    /// All text blocks joined, with a placeholder for each image.
    pub fn joined_text(&self) -> String {
        let mut joined = String::new();
        for block in &self.content {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            match block {
                Content::Text { text } => joined.push_str(text),
                Content::Image { data, mime_type } => {
                    joined.push_str(&image_in_words(data, mime_type));
                }
                Content::Other(block) => {
                    let kind = block.get("type").and_then(Value::as_str).unwrap_or("unknown");
                    joined.push_str(&format!("[{kind} content]"));
                }
            }
        }
        joined
    }

    /// The result with its data as JSON. A failed call has no data, because they may not match their
    /// schema.
    pub(super) fn erased(self) -> Result<ToolOutput, serde_json::Error>
    where
        Data: Serialize,
    {
        let has_failed = self.error.is_some();
        let (data, rest) = self.split_data();
        let structured = data.filter(|_| !has_failed).map(|it| AnswerData::of(&it)).transpose()?;
        Ok(ToolOutput { structured, ..rest })
    }

    /// Splits the data from the rest of the result.
    pub fn split_data<Other>(self) -> (Option<Data>, ToolOutput<Other>) {
        let rest = ToolOutput {
            content: self.content,
            structured: None,
            display: self.display,
            meta: self.meta,
            error: self.error,
            names_failure: self.names_failure,
            interrupt: self.interrupt,
            has_news_in_text: self.has_news_in_text,
        };
        (self.structured, rest)
    }
}

impl ToolOutput {
    /// The result of a failed call: the message is for the model, the details are for a person.
    pub fn failure(error: ToolError) -> Self {
        Self {
            content: vec![Content::text(&error.message)],
            display: error.details.as_ref().map(|it| it.for_people()),
            error: Some(error),
            ..Self::default()
        }
    }

    /// The view for `call`: MCP's result with our additions.
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
            // A host may forward `llmContent` without checking `error`, so the text must say that it is
            // an error.
            Some(error) => InvocationView {
                llm_content: if self.names_failure {
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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultView<'a, Block = Content> {
    /// The blocks that the model gets.
    pub content: &'a [Block],
    /// True when the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The result as structured data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<&'a AnswerData>,
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
