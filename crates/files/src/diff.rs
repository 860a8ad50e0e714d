//! The difference between two texts as a unified diff of limited size.

mod compare;

use memchr::{memchr_iter, memrchr};
use similar::{DiffOp, DiffTag, group_diff_ops};

pub(super) use compare::compare;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;
/// How many bytes are compared at a time to find a common beginning or end.
const STRIDE: usize = 4 * 1024;

/// The most lines that are compared, old and new together, because each takes memory.
const MAX_LINES: usize = 400_000;

/// The limits on the size of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLimits {
    /// The most lines that are shown.
    pub max_lines: usize,
    /// The most bytes that are shown.
    pub max_bytes: usize,
    /// The most characters of one line that are shown.
    pub max_line_chars: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { max_lines: 400, max_bytes: 32 * 1024, max_line_chars: 1_000 }
    }
}

/// A unified diff, possibly cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The diff with its header. Empty if nothing changed.
    pub text: String,
    /// The number of added lines, shown or not.
    pub added: usize,
    /// The number of removed lines, shown or not.
    pub removed: usize,
    /// Whether something was left out. The text says what.
    pub cut: bool,
}

/// Compares two texts line by line.
///
/// The common beginning and end of the texts are skipped, so that a small change in a huge file is as
/// quick as in a small one.
pub fn unified_diff(old: &str, new: &str, path: &str, limits: &DiffLimits) -> Diff {
    if old == new {
        return Diff::default();
    }
    let (start, tail) = changed_middle(old, new);
    let skipped_lines = memchr_iter(b'\n', old.as_bytes().get(..start).unwrap_or_default()).count();
    let old_middle = old.get(start..old.len() - tail).unwrap_or_default();
    let new_middle = new.get(start..new.len() - tail).unwrap_or_default();
    let count = |text: &str| {
        memchr_iter(b'\n', text.as_bytes()).count()
            + usize::from(!text.is_empty() && !text.ends_with('\n'))
    };
    let (removed, added) = (count(old_middle), count(new_middle));
    if removed.saturating_add(added) > MAX_LINES {
        let page = Page::new(path, limits);
        let text = format!(
            "{}[{removed} lines were replaced by {added}, too many to compare]\n",
            page.text
        );
        return Diff { text, added, removed, cut: true };
    }
    let old_lines = lines(old_middle);
    let new_lines = lines(new_middle);
    let ops = compare(&old_lines, &new_lines);

    let mut page = Page::new(path, limits);
    let (mut added, mut removed) = (0, 0);
    for op in ops.iter().filter(|it| it.tag() != DiffTag::Equal) {
        added += op.new_range().len();
        removed += op.old_range().len();
    }
    for group in group_diff_ops(ops, CONTEXT) {
        page.push_hunk(&group, &old_lines, &new_lines, skipped_lines);
    }
    page.finish(added, removed)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The start of the changed lines with their context, and the number of bytes after them.
fn changed_middle(old: &str, new: &str) -> (usize, usize) {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let shared = common_prefix(old, new);
    let mut start = old.get(..shared).unwrap_or_default();
    for _ in 0..=CONTEXT {
        start = match memrchr(b'\n', start) {
            Some(newline) => start.get(..newline).unwrap_or_default(),
            None => &[],
        };
    }
    // The newline belongs to the last line that is left out.
    let start = if start.is_empty() { 0 } else { start.len() + 1 };
    let room = old.len().min(new.len()) - shared;
    let tail = common_suffix(old, new).min(room);
    let tail = old.get(old.len() - tail..).unwrap_or_default();
    // The first newline ends the changed line. After it comes the context.
    let context = memchr_iter(b'\n', tail).nth(CONTEXT).map_or(tail.len(), |it| it + 1);
    (start, tail.len() - context)
}

fn common_prefix(old: &[u8], new: &[u8]) -> usize {
    let alike =
        old.chunks(STRIDE).zip(new.chunks(STRIDE)).take_while(|(old, new)| old == new).count();
    let near = (alike * STRIDE).min(old.len()).min(new.len());
    let starts = old.iter().skip(near).zip(new.iter().skip(near));
    near + starts.take_while(|(old, new)| old == new).count()
}

fn common_suffix(old: &[u8], new: &[u8]) -> usize {
    let alike =
        old.rchunks(STRIDE).zip(new.rchunks(STRIDE)).take_while(|(old, new)| old == new).count();
    let near = (alike * STRIDE).min(old.len()).min(new.len());
    let ends = old.iter().rev().skip(near).zip(new.iter().rev().skip(near));
    near + ends.take_while(|(old, new)| old == new).count()
}

/// The text of a diff, to which lines are added until a limit is reached.
struct Page<'a> {
    limits: &'a DiffLimits,
    text: String,
    lines: usize,
    hidden: usize,
    shortened: usize,
}

impl<'a> Page<'a> {
    fn new(path: &str, limits: &'a DiffLimits) -> Self {
        let path: String = path
            .chars()
            .map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it })
            .collect();
        let text = format!("--- {path}\n+++ {path}\n");
        Self { limits, text, lines: 0, hidden: 0, shortened: 0 }
    }

    fn push_hunk(&mut self, ops: &[DiffOp], old: &[&str], new: &[&str], skipped: usize) {
        let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
            return;
        };
        let old_span = span(first.old_range().start, last.old_range().end, skipped);
        let new_span = span(first.new_range().start, last.new_range().end, skipped);
        if !self.is_full() {
            self.text.push_str(&format!("@@ -{old_span} +{new_span} @@\n"));
        }
        for op in ops {
            let gone = old.get(op.old_range()).unwrap_or_default();
            let come = new.get(op.new_range()).unwrap_or_default();
            if op.tag() == DiffTag::Equal {
                self.push_lines(' ', gone);
            } else {
                self.push_lines('-', gone);
                self.push_lines('+', come);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.hidden > 0
            || self.lines >= self.limits.max_lines
            || self.text.len() >= self.limits.max_bytes
    }

    fn push_lines(&mut self, sign: char, lines: &[&str]) {
        for line in lines {
            self.push_line(sign, line);
        }
    }

    fn push_line(&mut self, sign: char, line: &str) {
        let full = self.is_full();
        let body = line.strip_suffix('\n').unwrap_or(line);
        let end = body.char_indices().nth(self.limits.max_line_chars).map(|(at, _)| at);
        let shown = end.and_then(|it| body.get(..it)).unwrap_or(body);
        if full || self.text.len() + shown.len() > self.limits.max_bytes {
            self.hidden += 1;
            return;
        }
        self.text.push(sign);
        self.text.push_str(shown);
        if shown.len() < body.len() {
            let more = body.get(shown.len()..).unwrap_or_default().chars().count();
            self.text.push_str(&format!("… [{more} more characters]"));
            self.shortened += 1;
        }
        self.text.push('\n');
        if body.len() == line.len() {
            self.text.push_str("\\ No newline at end of file\n");
        }
        self.lines += 1;
    }

    fn finish(mut self, added: usize, removed: usize) -> Diff {
        if self.hidden > 0 {
            let hidden = self.hidden;
            self.text.push_str(&format!(
                "… [{hidden} more lines of this diff; in all {added} added, {removed} removed]\n"
            ));
        }
        let cut = self.hidden > 0 || self.shortened > 0;
        Diff { text: self.text, added, removed, cut }
    }
}

/// A range as in a hunk header: an empty one is given by the line before it.
fn span(start: usize, end: usize, skipped: usize) -> String {
    match end - start {
        0 => format!("{},0", skipped + start),
        1 => format!("{}", skipped + start + 1),
        length => format!("{},{length}", skipped + start + 1),
    }
}

#[cfg(test)]
mod tests;
