//! Makes text safe to show to a person.
//!
//! Names, paths, commands and file contents come from models, repositories and servers. If they were
//! shown unchanged, they could move the cursor, reverse the reading direction or hide a part of
//! themselves, and a person would approve something other than what they see. So invisible characters
//! are shown as escapes, such as `\u{202e}`.

use std::borrow::Cow;

/// Whether a character may look different from what it is: control characters, those that change the
/// reading direction, those without a width, and blanks other than the space. Line breaks and tabs are
/// not confusing.
pub fn is_confusing(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        other => is_unseen(other) || other.is_whitespace(),
    }
}

/// Whether a character is invisible: Unicode's "default ignorable" characters, those that change the
/// reading direction, line separators, blank letters, and control characters other than line breaks and
/// tabs.
fn is_unseen(character: char) -> bool {
    match character {
        // The common case.
        ' '..='~' | '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// A path, command, rule or reason with every confusing character escaped.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_confusing) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push(&mut shown, character, is_confusing(character));
    }
    Cow::Owned(shown)
}

/// Running text, such as a diff or an output, with invisible characters escaped. Blanks of other scripts
/// are ordinary there, and so are joiners inside an emoji and the carriage return of a line ending.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        let is_ordinary = match character {
            '\r' => after == '\n',
            '\u{fe0f}' => is_pictograph(before) || after == '\u{20e3}',
            '\u{200d}' => is_pictograph(before) && is_pictograph(after),
            _ => false,
        };
        push(&mut shown, character, is_unseen(character) && !is_ordinary);
        before = character;
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, character: char, written_out: bool) {
    if written_out {
        shown.extend(character.escape_default());
    } else {
        shown.push(character);
    }
}

/// Whether a character is a symbol or emoji, which `U+FE0F` and `U+200D` can join to one emoji.
fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
        && character != '\u{2800}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        for (text, line, running) in [
            ("plain é 日本", "plain é 日本", "plain é 日本"),
            ("a\u{202e}b\u{61c}", "a\\u{202e}b\\u{61c}", "a\\u{202e}b\\u{61c}"),
            (
                "\u{200b}\u{feff}\u{2066}",
                "\\u{200b}\\u{feff}\\u{2066}",
                "\\u{200b}\\u{feff}\\u{2066}",
            ),
            ("\u{1b}[2J\r", "\\u{1b}[2J\\r", "\\u{1b}[2J\\r"),
            ("a\tb\r\nc", "a\tb\\r\nc", "a\tb\r\nc"),
            (
                "a\u{a0}b\u{3000}c\u{2028}",
                "a\\u{a0}b\\u{3000}c\\u{2028}",
                "a\u{a0}b\u{3000}c\\u{2028}",
            ),
            ("☀\u{fe0f} a\u{fe0f}", "☀\\u{fe0f} a\\u{fe0f}", "☀\u{fe0f} a\\u{fe0f}"),
            ("👩\u{200d}👧 a\u{200d}b", "👩\\u{200d}👧 a\\u{200d}b", "👩\u{200d}👧 a\\u{200d}b"),
            ("\u{e0041}\u{2800}", "\\u{e0041}\\u{2800}", "\\u{e0041}\\u{2800}"),
        ] {
            assert_eq!((visible(text), visible_text(text)), (line.into(), running.into()));
        }
    }
}
