//! Cuts output to a number of characters: between lines where possible, and never inside a character or an
//! escape sequence.

use super::readable::{readable, unfinished_sequence};

/// How many characters of output one answer shows.
pub const MAX_CHARACTERS: usize = 30_000;

/// The longest beginning of `part` whose text has at most `max_bytes` bytes, and that text.
pub fn shown_part(part: &[u8], rest: Rest, max_bytes: usize) -> (&[u8], String) {
    let mut count = MAX_CHARACTERS;
    loop {
        let mut bytes = beginning(part, count);
        if bytes.len() == part.len() && rest == Rest::Follows {
            bytes = up_to_last_line(bytes);
        }
        if bytes.len() < part.len() || rest != Rest::IsNone {
            // The rest of a cut character or escape sequence belongs to the next part.
            for missing in [incomplete(bytes), unfinished_sequence(bytes)] {
                bytes = bytes.get(..bytes.len() - missing).unwrap_or(bytes);
            }
        }
        let text = readable(bytes);
        if text.len() <= max_bytes || count == 1 {
            return (bytes, text);
        }
        let within = characters(bytes).min(count);
        count = (within * max_bytes / text.len()).clamp(1, count - 1);
    }
}

/// What follows a part of an output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// More output. The part should end with a whole line.
    Follows,
    /// Nothing yet, but the command still runs.
    MayCome,
    /// Nothing, because the command has ended.
    IsNone,
}

/// The number of characters in the bytes. Bytes that are not text count as a quarter of a character each,
/// because a character has at most four bytes.
pub fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| is_first_byte(**it)).count().max(bytes.len().div_ceil(4))
}

fn is_first_byte(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// The number of bytes at the end that are the beginning of an incomplete character.
fn incomplete(bytes: &[u8]) -> usize {
    let last = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or(bytes);
    match std::str::from_utf8(bytes.get(bytes.len().saturating_sub(4)..).unwrap_or(bytes)) {
        Ok(_) => 0,
        Err(_) => last
            .iter()
            .rposition(|it| is_first_byte(*it))
            .map(|at| last.get(at..).unwrap_or_default())
            .filter(|it| std::str::from_utf8(it).is_err_and(|it| it.error_len().is_none()))
            .map_or(0, <[u8]>::len),
    }
}

/// The beginning of at most `max` characters, cut after a line end if there is one.
pub fn beginning(bytes: &[u8], max: usize) -> &[u8] {
    let cut = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| is_first_byte(**byte))
        .nth(max)
        .map_or(bytes.len(), |(at, _)| at);
    // Bytes that are not text may have no first byte of a character to count.
    let cut = cut.min(max * 4);
    let within = bytes.get(..cut).unwrap_or(bytes);
    if cut < bytes.len() { up_to_last_line(within) } else { within }
}

/// Removes an incomplete line from the end, unless it is the only one.
fn up_to_last_line(bytes: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', bytes).and_then(|newline| bytes.get(..=newline)).unwrap_or(bytes)
}

/// The end of at most `max` characters, cut before a line if there is more than one.
pub fn end(bytes: &[u8], max: usize) -> &[u8] {
    let cut = bytes
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| is_first_byte(**byte))
        .nth(max.saturating_sub(1))
        .map_or(0, |(at, _)| at)
        .max(bytes.len().saturating_sub(max * 4));
    let within = bytes.get(cut..).unwrap_or(bytes);
    if cut > 0 { from_next_line(within) } else { within }
}

/// Removes an incomplete line from the beginning. If it is the only line, removes only an incomplete
/// character.
pub fn from_next_line(bytes: &[u8]) -> &[u8] {
    let begin = match memchr::memchr(b'\n', bytes) {
        Some(newline) if newline + 1 < bytes.len() => newline + 1,
        _ => bytes.iter().take(3).position(|it| is_first_byte(*it)).unwrap_or_default(),
    };
    bytes.get(begin..).unwrap_or(bytes)
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_part_fits_its_limit_and_ends_with_a_whole_line_or_character() {
        let shown = |part: &[u8], rest, max| {
            let (bytes, text) = shown_part(part, rest, max);
            (bytes.len(), text)
        };
        assert_eq!(shown(b"ab\ncd", Rest::IsNone, 100), (5, "ab\ncd".to_owned()));
        assert_eq!(shown(b"ab\ncd", Rest::Follows, 100), (3, "ab\n".to_owned()));
        assert_eq!(shown("ab€".as_bytes(), Rest::MayCome, 100), (5, "ab€".to_owned()));
        assert_eq!(shown(&"ab€".as_bytes()[..4], Rest::MayCome, 100), (2, "ab".to_owned()));
        assert_eq!(shown(&"ab€".as_bytes()[..4], Rest::IsNone, 100).0, 4);
        assert_eq!(shown(b"ab\x1b[3", Rest::MayCome, 100), (2, "ab".to_owned()));
        let many = "line\n".repeat(1_000);
        let (length, text) = shown(many.as_bytes(), Rest::IsNone, 600);
        assert!(text.len() <= 600 && text.len() > 300 && text.ends_with("line\n"), "{text}");
        assert_eq!(length, text.len());
        for part in [vec![0xff; 5_000], vec![0x80; 5_000], "€".repeat(2_000).into_bytes()] {
            let (length, text) = shown(&part, Rest::IsNone, 300);
            assert!(length > 10 && text.len() <= 300, "{length} {text}");
        }
    }

    #[test]
    fn cuts_fall_on_lines_and_characters() {
        assert_eq!(beginning(b"ab\ncd\nef", 20), b"ab\ncd\nef");
        assert_eq!(beginning(b"ab\ncd\nef", 7), b"ab\ncd\n");
        assert_eq!(beginning("äöü".as_bytes(), 2), "äö".as_bytes());
        assert_eq!(end(b"ab\ncd\nef\n", 20), b"ab\ncd\nef\n");
        assert_eq!(end(b"ab\ncd\nef\n", 5), b"ef\n");
        assert_eq!(end("äöü".as_bytes(), 2), "öü".as_bytes());
        assert_eq!(end(b"abcdef", 2), b"ef");
        assert_eq!(beginning(&[0x80; 100], 5).len(), 20);
        assert_eq!(from_next_line(b"b\ncd\nef"), b"cd\nef");
        assert_eq!(from_next_line(b"ef\n"), b"ef\n");
        assert_eq!(from_next_line(&"äö".as_bytes()[1..]), "ö".as_bytes());
        for (bytes, missing) in [
            (&b"a\xe2\x82"[..], 2),
            (b"a\xe2\x82\xac", 0),
            (b"\xf0\x9f\x98", 3),
            (b"\xff", 0),
            (b"", 0),
        ] {
            assert_eq!(incomplete(bytes), missing, "{bytes:?}");
        }
    }
}
