//! Cuts a command's output to what one answer may show.
//!
//! The beginning and the end are shown, because errors are usually at one of them, and the answer names the
//! file that has the rest. Cuts are made between lines where possible, and never inside a character.

use std::path::Path;

use crate::{
    process::{SpillState, Task, readable, unfinished_sequence},
    tool::shown_path,
};

/// How many characters of output one answer shows.
pub(super) const MAX_CHARACTERS: usize = 30_000;

/// The text of an output, and notes about what was left out of it.
pub(super) struct ShownOutput {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

/// A command's output. If it does not fit, its middle is left out.
pub(super) fn shown_output(task: &Task, max_bytes: usize) -> ShownOutput {
    let total = task.total();
    let whole = task.whole();
    if let Some(whole) = whole.as_ref().filter(|it| characters(it) <= MAX_CHARACTERS) {
        let text = readable(whole);
        if text.len() <= max_bytes {
            return ShownOutput { text, notes: Vec::new() };
        }
    }
    let ends = if whole.is_none() { task.ends() } else { (Vec::new(), Vec::new()) };
    let (first, last) = (whole.as_ref().unwrap_or(&ends.0), from_next_line(&ends.1));
    let spill = task.spill();
    let place = match &spill {
        SpillState::File { path, bytes } if *bytes == total => {
            format!("; the full output is in `{}`", shown_path(path))
        }
        SpillState::File { .. } | SpillState::None | SpillState::Failed(_) => String::new(),
    };
    let mut notes = Vec::new();
    match &spill {
        SpillState::File { path, bytes } => notes.push(file_note(path, *bytes, total)),
        SpillState::Failed(cause) => {
            notes.push(format!(
                "the output has {total} bytes and could not be saved to a file: {cause}"
            ));
        }
        SpillState::None => {}
    }
    let mut count = MAX_CHARACTERS / 2;
    loop {
        let head = beginning(first, count);
        let behind =
            if whole.is_some() { first.get(head.len()..).unwrap_or_default() } else { last };
        let tail = end(behind, count);
        let left_out = total - head.len() as u64 - tail.len() as u64;
        let (head, tail) = (readable(head), readable(tail));
        let line = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let text = format!("{head}{line}[… {left_out} bytes left out{place} …]\n{tail}");
        let shown = head.len() + tail.len();
        if text.len() <= max_bytes || shown == 0 {
            return ShownOutput { text, notes };
        }
        let room = max_bytes.saturating_sub(text.len() - shown);
        count = (count * room / shown).min(count - 1);
    }
}

/// The longest beginning of `part` whose text has at most `max_bytes` bytes, and that text.
pub(super) fn shown_part(part: &[u8], rest: Rest, max_bytes: usize) -> (&[u8], String) {
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
pub(super) enum Rest {
    /// More output. The part should end with a whole line.
    Follows,
    /// Nothing yet, but the command still runs.
    MayCome,
    /// Nothing, because the command has ended.
    IsNone,
}

/// Says which file has the output, and how much of it.
pub(super) fn file_note(path: &Path, bytes: u64, total: u64) -> String {
    let path = shown_path(path);
    if bytes < total {
        format!(
            "the output has {total} bytes; the first {bytes} are in `{path}`, which reached its size limit (`shell.maxOutputFileBytes`)"
        )
    } else {
        format!("all {total} bytes of the output are in `{path}`; read parts of it, or search it")
    }
}

/// The number of characters in bytes. A character has at most four bytes, so bytes that are not text count as
/// a quarter of a character each.
fn characters(bytes: &[u8]) -> usize {
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
fn beginning(bytes: &[u8], max: usize) -> &[u8] {
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
fn end(bytes: &[u8], max: usize) -> &[u8] {
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

/// Removes an incomplete line from the beginning, unless it is the only one; of that, an incomplete character.
fn from_next_line(bytes: &[u8]) -> &[u8] {
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
    fn a_part_is_shown_within_its_bytes_and_ends_with_what_is_whole() {
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
