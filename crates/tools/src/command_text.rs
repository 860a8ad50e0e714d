//! Cuts a command's output to what one answer may show.
//!
//! The beginning and the end are shown, because errors are usually at one of them, and the answer names the
//! file that has the rest. Cuts are made between lines where possible, and never inside a character.

use std::path::Path;

use toolwright_base::shown_path;
use toolwright_process::{
    MAX_CHARACTERS, SpillState, Task, beginning, characters, end, from_next_line, readable,
};

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
