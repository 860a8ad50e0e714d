//! What a model is shown of a command's output: beginning and end, and where the rest is.

use std::path::Path;

use crate::{
    process::{SpillState, Task, readable},
    tool::shown_path,
};

/// How many characters of output one answer shows.
pub(super) const MAX_CHARACTERS: usize = 30_000;

/// The output as text, and what was left out of it.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

/// A command's whole output, within bounds. What does not fit is in a file.
pub(super) fn shown_output(task: &Task) -> Shown {
    let (head, tail) = task.ends();
    let total = task.total();
    if tail.is_empty() && characters(&head) <= MAX_CHARACTERS {
        return Shown { text: readable(&head), notes: Vec::new() };
    }
    let whole;
    let (head, tail) = if tail.is_empty() {
        whole = head;
        (whole.as_slice(), whole.as_slice())
    } else {
        (head.as_slice(), tail.as_slice())
    };
    let head = beginning(head, MAX_CHARACTERS / 2);
    let tail = end(tail, MAX_CHARACTERS / 2);
    let left_out = total - head.len() as u64 - tail.len() as u64;
    let spill = task.spill();
    let place = match &spill {
        SpillState::File { path, .. } => format!("; `{}` has all", shown_path(path)),
        SpillState::None | SpillState::Failed(_) => String::new(),
    };
    let mut notes = Vec::new();
    match &spill {
        SpillState::File { path, bytes } => notes.push(file_note(path, *bytes, total)),
        SpillState::Failed(cause) => {
            notes.push(format!(
                "the output has {total} bytes; it could not be kept in a file: {cause}"
            ));
        }
        SpillState::None => {}
    }
    let (head, tail) = (readable(head), readable(tail));
    let line = if head.ends_with('\n') { "" } else { "\n" };
    let text = format!("{head}{line}[… {left_out} bytes left out{place} …]\n{tail}");
    Shown { text, notes }
}

/// Where all of an output is, or as much of it as there is room for.
pub(super) fn file_note(path: &Path, bytes: u64, total: u64) -> String {
    let path = shown_path(path);
    if bytes < total {
        format!(
            "the output has {total} bytes; the first {bytes} are in `{path}`, which is full (`shell.maxOutputFileBytes`)"
        )
    } else {
        format!("all {total} bytes of the output are in `{path}`; read parts of it, or search it")
    }
}

/// The characters that bytes make at most.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| is_first_byte(**it)).count()
}

fn is_first_byte(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// How many bytes at the end are the beginning of a character whose rest is missing.
pub(super) fn incomplete(bytes: &[u8]) -> usize {
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

/// The longest beginning of so many characters, of whole lines where there is more than one.
pub(super) fn beginning(bytes: &[u8], max: usize) -> &[u8] {
    let cut = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| is_first_byte(**byte))
        .nth(max)
        .map_or(bytes.len(), |(at, _)| at);
    // Bytes that are no text at all have no first bytes to count.
    let cut = cut.min(max * 4);
    let within = bytes.get(..cut).unwrap_or(bytes);
    match memchr::memrchr(b'\n', within) {
        Some(newline) if cut < bytes.len() => bytes.get(..=newline).unwrap_or(within),
        _ => within,
    }
}

/// The longest end of so many characters, of whole lines where there is more than one.
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
    match memchr::memchr(b'\n', within) {
        Some(newline) if cut > 0 && newline + 1 < within.len() => {
            within.get(newline + 1..).unwrap_or(within)
        }
        _ => within,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
