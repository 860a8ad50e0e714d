//! How a call's answer crosses to JavaScript: as JSON, followed by its long texts unescaped.
//!
//! Escaping and parsing a long text would be most of the cost of a large answer. So a long text
//! stands in the JSON as its length only, and the texts follow: `@<length of the JSON>;<JSON><texts>`.
//! Lengths count UTF-16 units, which is how `lib/native/wire.js` cuts.

use serde::Serialize;
use toolwright_core::{Content, InvocationView, ResultView, ToolOutput};

/// Shorter texts stay in the JSON, because escaping them is cheaper than cutting them out.
const LONG: usize = 4 * 1024;

/// The answer of `call`.
pub(super) fn result_wire(output: &ToolOutput) -> String {
    let view = output.result_view();
    if !output.content.iter().any(|block| long_text(block).is_some()) {
        return json(&view);
    }
    let content: Vec<WireBlock<'_>> = output.content.iter().map(WireBlock::from).collect();
    let texts: Vec<&str> = output.content.iter().filter_map(long_text).collect();
    let view = ResultView {
        content: &content,
        is_error: view.is_error,
        structured_content: view.structured_content,
        display: view.display,
        error: view.error,
        meta: view.meta,
    };
    joined(&json(&view), &texts)
}

/// The answer of an invocation's `execute`.
pub(super) fn invocation_wire(output: &ToolOutput) -> String {
    let view = output.invocation_view();
    if view.llm_content.len() < LONG {
        return json(&view);
    }
    let InvocationView { llm_content, return_display, error } = view;
    let llm_length = utf16_length(&llm_content);
    joined(
        &json(&InvocationView { llm_content: llm_length, return_display, error }),
        &[&llm_content],
    )
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireBlock<'a> {
    Whole(&'a Content),
    Length { r#type: &'static str, text: usize },
}

impl<'a> From<&'a Content> for WireBlock<'a> {
    fn from(block: &'a Content) -> Self {
        match long_text(block) {
            Some(text) => Self::Length { r#type: "text", text: utf16_length(text) },
            None => Self::Whole(block),
        }
    }
}

fn long_text(block: &Content) -> Option<&str> {
    match block {
        Content::Text { text } if text.len() >= LONG => Some(text),
        Content::Text { .. } | Content::Image { .. } | Content::Other(_) => None,
    }
}

fn joined(header: &str, texts: &[&str]) -> String {
    let length = header.len() + texts.iter().map(|it| it.len()).sum::<usize>() + 16;
    let mut wire = String::with_capacity(length);
    wire.push_str(&format!("@{};", utf16_length(header)));
    wire.push_str(header);
    for text in texts {
        wire.push_str(text);
    }
    wire
}

fn utf16_length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

fn json(view: &impl Serialize) -> String {
    serde_json::to_string(view).unwrap_or_else(|err| {
        let text = format!("the result cannot be written as JSON: {err}");
        let content = [Content::text(&text)];
        serde_json::json!({ "content": content, "isError": true, "llmContent": text }).to_string()
    })
}
