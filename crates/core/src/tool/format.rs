//! Formats output for models and for people: truncates it, removes escape sequences, makes invisible
//! characters visible. Every result passes through here, and `OutputFormatter` offers the same to
//! hosts.

use serde::Serialize;
use toolwright_base::{TerminalAction, TerminalParser, visible_text};

/// How much of an output is kept. None means no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct TruncationLimits {
    /// The most characters, counted in UTF-16 units like the length of a JavaScript string.
    pub max_chars: Option<usize>,
    /// The most lines.
    pub max_lines: Option<usize>,
}

/// An output within its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "hosts know the field by this name")]
pub struct Truncated {
    /// The kept part, with a last line that says what was left out.
    pub content: String,
    /// True when something was left out.
    pub truncated: bool,
    /// How much was left out, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<String>,
}

/// Cuts an output to its limits and notes how much was left out. Never splits a character.
pub fn truncate(output: &str, limits: TruncationLimits) -> Truncated {
    let by_lines = limits.max_lines.map_or(output, |max| first_lines(output, max));
    let shown = limits.max_chars.map_or(by_lines, |max| first_chars(by_lines, max));
    let mut omitted = Vec::new();
    if by_lines.len() < output.len() {
        let left_out = output.get(by_lines.len()..).unwrap_or_default();
        omitted.push(counted(left_out.matches('\n').count(), "line"));
    }
    if shown.len() < by_lines.len() {
        let left_out = by_lines.get(shown.len()..).unwrap_or_default();
        omitted.push(counted(left_out.encode_utf16().count(), "character"));
    }
    if omitted.is_empty() {
        return Truncated { content: output.to_owned(), truncated: false, omitted: None };
    }
    let omitted = omitted.join(" and ");
    let content = format!("{shown}\n\n[Output truncated: {omitted} omitted]");
    Truncated { content, truncated: true, omitted: Some(omitted) }
}

/// The longest prefix of a text that has at most `max_bytes` and consists of whole lines. If the first
/// line is longer than that, a part of it. Never splits a character.
pub fn whole_lines_within(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let beginning = text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default();
    match beginning.rfind('\n') {
        // A cut inside a line would look like the end of the line.
        Some(newline) => beginning.get(..=newline).unwrap_or_default(),
        None => beginning,
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The first lines of a text, without the line end after them.
fn first_lines(text: &str, max: usize) -> &str {
    match text.match_indices('\n').nth(max.saturating_sub(1)) {
        Some((newline, _)) => text.get(..newline).unwrap_or_default(),
        None => text,
    }
}

fn first_chars(text: &str, max: usize) -> &str {
    // No character has more UTF-16 units than bytes.
    if text.len() <= max {
        return text;
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// Formats output for a model: removes escape sequences, and whitespace at both ends.
pub fn for_model(output: &str) -> String {
    without_escapes(output).trim().to_owned()
}

/// Formats output for a person: escapes characters that control a terminal, change the reading
/// direction or are invisible. Line ends and tabs stay.
pub fn for_display(output: &str) -> String {
    visible_text(output).into_owned()
}

/// Removes escape sequences: colours, cursor movements, titles.
fn without_escapes(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    let mut append = |action| match action {
        TerminalAction::Print(it) | TerminalAction::Control(it) => plain.push(it),
        TerminalAction::EraseToLineEnd => {}
    };
    let mut parser = TerminalParser::default();
    parser.parse(output.as_bytes(), &mut append);
    parser.finish(&mut append);
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(max_chars: usize, max_lines: usize) -> TruncationLimits {
        TruncationLimits { max_chars: Some(max_chars), max_lines: Some(max_lines) }
    }

    #[test]
    fn omitted_lines_and_characters_are_counted() {
        let cut = truncate("one\ntwo\nthree\nfour", limits(5, 2));
        assert_eq!(
            cut,
            Truncated {
                content: "one\nt\n\n[Output truncated: 2 lines and 2 characters omitted]"
                    .to_owned(),
                truncated: true,
                omitted: Some("2 lines and 2 characters".to_owned()),
            }
        );
        assert_eq!(truncate("a\nb", limits(10, 1)).omitted.as_deref(), Some("1 line"));
        assert!(!truncate("a\nb", limits(3, 2)).truncated);
        // A character of two units does not fit into one.
        assert_eq!(truncate("a😀b", limits(2, 9)).omitted.as_deref(), Some("3 characters"));
    }

    #[test]
    fn cuts_fall_after_a_line_and_never_inside_a_character() {
        assert_eq!(whole_lines_within("ab\ncd\nef", 20), "ab\ncd\nef");
        assert_eq!(whole_lines_within("ab\ncd\nef", 7), "ab\ncd\n");
        assert_eq!(whole_lines_within("ab\ncd\nef", 5), "ab\n");
        assert_eq!(whole_lines_within("äöü", 3), "ä");
        assert_eq!(whole_lines_within("ä", 1), "");
    }

    #[test]
    fn escape_sequences_are_removed_for_models_and_visible_for_people() {
        assert_eq!(
            for_model(" \u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7} \u{1b}]8;;x\u{1b}\\!\n"),
            "red !"
        );
        assert_eq!(for_display("a\u{1b}[2Jb\n\tc"), "a\\u{1b}[2Jb\n\tc");
    }

    proptest! {
        #[test]
        fn shown_text_is_a_prefix_of_the_output_and_within_the_limits(
            output in "[a-c\\n😀é]{0,80}", max_chars in 1_usize..40, max_lines in 1_usize..10,
        ) {
            let cut = truncate(&output, limits(max_chars, max_lines));
            let shown = match &cut.omitted {
                Some(omitted) => {
                    let note = format!("\n\n[Output truncated: {omitted} omitted]");
                    cut.content.strip_suffix(&note).unwrap_or_default().to_owned()
                }
                None => cut.content.clone(),
            };
            prop_assert!(output.starts_with(&shown));
            prop_assert!(shown.encode_utf16().count() <= max_chars);
            prop_assert!(shown.split('\n').count() <= max_lines);
            let over = output.encode_utf16().count() > max_chars || output.split('\n').count() > max_lines;
            prop_assert_eq!(cut.truncated, over);
        }

        #[test]
        fn any_text_can_be_formatted(output in any::<String>()) {
            let escape = '\u{1b}';
            prop_assert!(!for_model(&output).contains(escape));
            prop_assert!(!for_display(&output).contains(escape));
        }
    }
}
