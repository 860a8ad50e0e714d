//! Where a text may be cut.

/// The longest beginning of a text within so many bytes that ends with a line; where the first line is
/// longer, a part of it. Never splits a character.
pub fn whole_lines_within(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let beginning = text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default();
    match beginning.rfind('\n') {
        // A cut inside a line would look like the line's end.
        Some(newline) => beginning.get(..=newline).unwrap_or_default(),
        None => beginning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_behind_a_line_and_never_inside_a_character() {
        assert_eq!(whole_lines_within("ab\ncd\nef", 20), "ab\ncd\nef");
        assert_eq!(whole_lines_within("ab\ncd\nef", 7), "ab\ncd\n");
        assert_eq!(whole_lines_within("ab\ncd\nef", 5), "ab\n");
        assert_eq!(whole_lines_within("äöü", 3), "ä");
        assert_eq!(whole_lines_within("ä", 1), "");
    }
}
