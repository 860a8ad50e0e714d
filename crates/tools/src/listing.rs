//! Answers that are lists: lines up to a size, then notes in brackets.

use toolwright_core::Content;

/// The approximate maximum size of a list in bytes.
const MAX_LISTED_BYTES: usize = 100_000;

/// As many lines as fit into an answer, but at least one.
pub(super) fn lines_that_fit(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut bytes = 0;
    let fits = |line: &String| {
        let is_first = bytes == 0;
        bytes += line.len();
        is_first || bytes <= MAX_LISTED_BYTES
    };
    lines.take_while(fits).collect()
}

/// The lines, and the notes below them.
pub(super) fn lines_and_notes(lines: &[String], notes: &[String]) -> Vec<Content> {
    let mut content = Vec::new();
    if !lines.is_empty() {
        content.push(Content::text(lines.join("\n")));
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    content
}
