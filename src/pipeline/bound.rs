//! The last bound on what a model is shown, for tools that set none of their own.

use crate::tool::{Content, ToolOutput};

/// Cuts text beyond the limit, over all blocks, and says what was cut.
pub(super) fn bounded(mut output: ToolOutput, max_bytes: usize) -> ToolOutput {
    let total: usize = output.content.iter().map(text_bytes).sum();
    if total <= max_bytes {
        return output;
    }
    let mut room = max_bytes;
    for block in &mut output.content {
        if let Content::Text { text } = block {
            if text.len() <= room {
                room -= text.len();
                continue;
            }
            let end = text.floor_char_boundary(room);
            // A cut inside a line looks like the line's end: back to the last whole one, if there is any.
            let whole_lines =
                text.get(..end).and_then(|it| it.rfind('\n')).map_or(end, |newline| newline + 1);
            text.truncate(whole_lines);
            room = 0;
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
