//! Renders inputs and reasons as bounded text that is safe to display.

use std::io::{self, Write};

use serde_json::Value;
use toolwright_base::{shortened_to_bytes, shown_text};
use toolwright_core::for_display;

/// The longest input that is shown, in bytes.
const MAX_INPUT_BYTES: usize = 2_048;
/// The longest name, id or reason that is shown, in bytes.
const MAX_LINE_BYTES: usize = 500;

/// An input as JSON. Serialization stops when the limit is reached.
pub(super) fn shown_input(input: &Value) -> String {
    let mut bounded = BoundedWriter(Vec::with_capacity(256));
    // An error means that the limit was reached.
    let is_whole = serde_json::to_writer(&mut bounded, input).is_ok();
    let mut text = for_display(&String::from_utf8_lossy(&bounded.0));
    if !is_whole {
        text.push('…');
    }
    shortened_to_bytes(&text, MAX_INPUT_BYTES).into_owned()
}

/// A text in one line.
pub(super) fn one_line(text: &str) -> String {
    // Cut before it is escaped, to save work, and again because escaping makes it longer.
    let text = shown_text(&shortened_to_bytes(text, MAX_LINE_BYTES)).replace(['\n', '\t'], " ");
    shortened_to_bytes(&text, MAX_LINE_BYTES).into_owned()
}

/// Accepts bytes up to the limit and then fails.
struct BoundedWriter(Vec<u8>);

impl Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_INPUT_BYTES.saturating_sub(self.0.len());
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.0.extend_from_slice(taken);
        if taken.is_empty() && !bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_input_is_cut_and_escaped_for_terminals() {
        assert_eq!(shown_input(&json!({ "a": [1, "ü"] })), r#"{"a":[1,"ü"]}"#);
        for filling in ["x", "ü", "\u{202e}", "\n", "😀"] {
            let text = shown_input(&json!({ "text": filling.repeat(100_000) }));
            assert!(text.len() <= MAX_INPUT_BYTES && text.ends_with('…'), "{filling:?}");
            assert!(text.starts_with(r#"{"text":""#) && !text.contains('\u{202e}'));
        }
        let exact = "x".repeat(MAX_INPUT_BYTES - 2);
        assert_eq!(shown_input(&json!(exact)), format!("\"{exact}\""));
    }

    #[test]
    fn a_line_has_no_line_ends_and_a_bound() {
        assert_eq!(one_line("two\nlines\u{7}"), "two lines\\u{7}");
        assert_eq!(one_line(&"ü".repeat(400)).len(), 499);
    }
}
