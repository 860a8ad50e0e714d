//! Pages of a task's output, for clients that follow it outside of a conversation.

use std::io;

use super::{
    output_cuts::{Rest, shown_part},
    task::Task,
};

/// The number of bytes of one page.
const MAX_PAGE_BYTES: usize = 64 * 1024;

/// A part of the output of a task, for readers outside of conversations.
pub struct TaskPage {
    /// The part as text.
    pub text: String,
    /// Its offset in bytes.
    pub offset: u64,
    /// The offset of the next part.
    pub next_offset: u64,
    /// The size of the output so far, in bytes.
    pub total: u64,
    /// True if the task has ended and nothing follows.
    pub is_complete: bool,
}

/// Reads a part of the output of a task. Blocks, because it may read a file.
pub fn task_page(task: &Task, from: u64) -> io::Result<TaskPage> {
    // Read before the output, so that the output of an ended task is complete.
    let has_ended = task.ending().is_some();
    let part = task.part(from, MAX_PAGE_BYTES)?;
    let total = task.total();
    let rest = rest_of(part.end(), total, has_ended);
    let (bytes, text) = shown_part(&part.bytes, rest, MAX_PAGE_BYTES);
    let next_offset = part.offset + bytes.len() as u64;
    let is_complete = has_ended && next_offset >= total;
    Ok(TaskPage { text, offset: part.offset, next_offset, total, is_complete })
}

/// What follows the part of an output that ends at `end`.
pub fn rest_of(end: u64, total: u64, has_ended: bool) -> Rest {
    match (end < total, has_ended) {
        (true, _) => Rest::Follows,
        (false, false) => Rest::MayCome,
        (false, true) => Rest::IsNone,
    }
}
