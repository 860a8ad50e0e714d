//! Bounds the size of results, for tools that do not do it themselves.

use serde_json::Value;
use toolwright_core::{Content, ToolOutput, for_display, whole_lines_within};

/// How many bytes of base64 the images of one result may have together.
const MAX_PICTURE_BYTES: usize = 20 * 1024 * 1024;

/// Cuts a result to the limits, over all blocks, and notes what was cut. Also escapes characters that
/// could control a person's terminal.
pub(super) fn bounded(mut output: ToolOutput, max_bytes: usize) -> ToolOutput {
    output.display = output.shown_to_people().map(|it| for_display(&it));
    let mut notes = Vec::new();
    bound_text(&mut output.content, max_bytes, &mut notes);
    bound_pictures(&mut output.content, &mut notes);
    let data_bytes = output.structured.as_ref().map_or(0, |it| it.text().len());
    if data_bytes > max_bytes {
        output.structured = None;
        notes.push(format!("{data_bytes} bytes of structured content are left out"));
    }
    if !notes.is_empty() {
        notes.push("ask for less at a time".to_owned());
        output.content.push(Content::text(format!("[result cut: {}]", notes.join("; "))));
    }
    output
}

fn bound_text(content: &mut Vec<Content>, max_bytes: usize, notes: &mut Vec<String>) {
    let total: usize = content.iter().map(text_bytes).sum();
    if total <= max_bytes {
        return;
    }
    let mut room = max_bytes;
    let mut shown = 0;
    for block in content.iter_mut() {
        let kept = match block {
            Content::Text { text } => {
                let kept = whole_lines_within(text, room).len();
                // Nothing follows a cut, because a gap in the middle could go unnoticed.
                room = if kept == text.len() { room - kept } else { 0 };
                text.truncate(kept);
                kept
            }
            Content::Other(_) => {
                let size = text_bytes(block);
                if size > room {
                    room = 0;
                    *block = Content::text("");
                    0
                } else {
                    room -= size;
                    size
                }
            }
            Content::Image { .. } => 0,
        };
        shown += kept;
    }
    content.retain(|block| !matches!(block, Content::Text { text } if text.is_empty()));
    notes.push(format!("{shown} of {total} bytes of text are shown"));
}

fn bound_pictures(content: &mut Vec<Content>, notes: &mut Vec<String>) {
    let mut room = MAX_PICTURE_BYTES;
    let before = content.len();
    content.retain(|block| match block {
        Content::Image { data, .. } => match room.checked_sub(data.len()) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        },
        Content::Text { .. } | Content::Other(_) => true,
    });
    let left_out = before - content.len();
    if left_out > 0 {
        notes.push(format!("{left_out} pictures did not fit into {MAX_PICTURE_BYTES} bytes"));
    }
}

fn text_bytes(block: &Content) -> usize {
    match block {
        Content::Text { text } => text.len(),
        Content::Image { .. } => 0,
        Content::Other(block) => block.values().map(json_bytes).sum(),
    }
}

/// The approximate size of a value as JSON, without serialising it.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(json_bytes).sum::<usize>() + items.len(),
        Value::Object(fields) => fields.iter().map(|(name, it)| name.len() + json_bytes(it)).sum(),
    }
}
