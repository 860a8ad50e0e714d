//! Cuts texts that are shown: names in errors, descriptions, values.

use std::borrow::Cow;

/// The most characters of a name or id in an error.
pub const SHOWN_NAME: usize = 80;

/// The text, or its first `most` characters followed by `…` if it is longer.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most).and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => Cow::Owned(format!("{beginning}…")),
        None => Cow::Borrowed(text),
    }
}

/// The text, or its beginning followed by `…` if it has more than `most` bytes. The `…` counts.
pub fn shortened_to_bytes(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most.saturating_sub('…'.len_utf8()));
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_longer_texts_are_cut_and_no_character_is_split() {
        for (text, most, wanted) in
            [("", 0, ""), ("abc", 3, "abc"), ("abcd", 3, "abc…"), ("äöü", 2, "äö…"), ("a", 0, "…")]
        {
            assert_eq!(shortened(text, most), wanted, "{text} {most}");
        }
    }

    #[test]
    fn a_text_that_is_cut_to_bytes_keeps_the_limit_with_its_mark() {
        for (text, most, wanted) in [
            ("", 0, ""),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "a…"),
            ("äöü", 5, "ä…"),
            ("äöü", 4, "…"),
        ] {
            assert_eq!(shortened_to_bytes(text, most), wanted, "{text} {most}");
        }
    }
}
