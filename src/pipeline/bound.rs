//! The last bound on what a model is shown, for tools that set none of their own.

use crate::tool::{Content, ToolOutput, whole_lines_within};

/// Cuts text beyond the limit, over all blocks, and says what was cut.
pub(super) fn bounded(mut output: ToolOutput, max_bytes: usize) -> ToolOutput {
    let total: usize = output.content.iter().map(text_bytes).sum();
    if total <= max_bytes {
        return output;
    }
    let mut room = max_bytes;
    for block in &mut output.content {
        if let Content::Text { text } = block {
            let kept = whole_lines_within(text, room).len();
            // Once something is cut, nothing follows: an answer with a hole reads like a whole one.
            room = if kept == text.len() { room - kept } else { 0 };
            text.truncate(kept);
        }
    }
    output.content.retain(|block| !matches!(block, Content::Text { text } if text.is_empty()));
    output.content.push(Content::text(format!(
        "[result cut: {max_bytes} of {total} bytes of text are shown; ask for less at a time]"
    )));
    output
}

fn text_bytes(block: &Content) -> usize {
    match block {
        Content::Text { text } => text.len(),
        Content::Image { .. } | Content::Other(_) => 0,
    }
}
