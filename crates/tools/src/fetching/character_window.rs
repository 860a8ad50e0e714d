//! The part of a text that is shown. It is counted in UTF-16 units, as JavaScript counts characters, because
//! hosts compare it with the length of a string.

use std::fmt;

/// The part of a text to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharacterWindow {
    pub(super) offset: usize,
    pub(super) length: usize,
}

/// The shown part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownCharacters<'t> {
    pub(super) text: &'t str,
    /// The number of characters shown.
    pub(super) characters: usize,
    /// The number of characters after them.
    pub(super) omitted: usize,
    /// The number of characters of the whole text.
    pub(super) total: usize,
}

impl CharacterWindow {
    /// Cuts the part out of a text. A character of two units is never split: it is left out at the end.
    pub(super) fn of(self, text: &str) -> ShownCharacters<'_> {
        let total = units(text);
        let start = byte_at(text, self.offset);
        let rest = text.get(start..).unwrap_or_default();
        let end = byte_at(rest, self.length);
        let shown = rest.get(..end).unwrap_or(rest);
        let before = units(text.get(..start).unwrap_or_default());
        let characters = units(shown);
        ShownCharacters { text: shown, characters, omitted: total - before - characters, total }
    }
}

impl ShownCharacters<'_> {
    /// True if the requested part begins after the end of the text.
    pub(super) fn is_past_end(&self) -> bool {
        self.total > 0 && self.characters == 0 && self.omitted == 0
    }
}

impl fmt::Display for ShownCharacters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        if self.omitted > 0 {
            write!(f, "\n\n[Content truncated: {} characters omitted]", self.omitted)?;
        }
        Ok(())
    }
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The byte offset after `wanted` units of a text, rounded down to a character boundary.
fn byte_at(text: &str, wanted: usize) -> usize {
    if text.is_ascii() {
        return wanted.min(text.len());
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > wanted {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, offset: usize, length: usize) -> String {
        CharacterWindow { offset, length }.of(text).to_string()
    }

    #[test]
    fn a_part_is_shown_and_the_rest_counted() {
        assert_eq!(shown("abcdef", 0, 10), "abcdef");
        assert_eq!(shown("abcdef", 0, 4), "abcd\n\n[Content truncated: 2 characters omitted]");
        assert_eq!(shown("abcdef", 4, 4), "ef");
        assert_eq!(shown("äöü", 1, 1), "ö\n\n[Content truncated: 1 characters omitted]");
        assert_eq!(shown("a😀b", 0, 2), "a\n\n[Content truncated: 3 characters omitted]");
        assert!(CharacterWindow { offset: 9, length: 1 }.of("abc").is_past_end());
    }

    proptest! {
        #[test]
        fn consecutive_parts_make_up_the_text(text in ".{0,60}", length in 2_usize..9) {
            let mut offset = 0;
            let mut joined = String::new();
            loop {
                let part = CharacterWindow { offset, length }.of(&text);
                prop_assert!(part.characters <= length);
                prop_assert_eq!(offset + part.characters + part.omitted, part.total);
                joined.push_str(part.text);
                offset += part.characters;
                if part.omitted == 0 {
                    break;
                }
            }
            prop_assert_eq!(joined, text);
        }
    }
}
