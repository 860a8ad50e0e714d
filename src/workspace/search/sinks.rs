//! What is kept of a file's matches: that there is one, how many there are, or the lines.

use std::io;

use grep_matcher::{Match, Matcher as _};
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::{
    answer::{Row, RowKind, RowText},
    line_matcher::LineMatcher,
};

/// The longest line that is shown.
const MAX_LINE_CHARS: usize = 500;
/// How far beyond a match over several lines a pattern may look.
const LOOK_AHEAD_BYTES: usize = 128;

/// Notes the first match.
#[derive(Debug, Default)]
pub(super) struct Presence(pub(super) bool);

impl Sink for &mut Presence {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}

/// Counts matching lines; matches, where one may span several lines.
pub(super) struct Counter<'m> {
    pub(super) matcher: &'m LineMatcher,
    pub(super) count: u64,
}

impl Sink for &mut Counter<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if searcher.multi_line_with_matcher(self.matcher) {
            self.count += matches_within(searcher, self.matcher, found)?.len() as u64;
        } else {
            self.count += 1;
        }
        Ok(true)
    }
}

/// How many rows are kept before a file, or a group of files, has more than any answer can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLimit {
    /// Rows that an answer passes over.
    pub(super) offset: usize,
    /// Rows that it shows.
    pub(super) rows: usize,
    /// Bytes that it shows.
    pub(super) bytes: usize,
}

/// The rows of one file after the other.
pub(super) struct LineSink<'m> {
    pub(super) matcher: &'m LineMatcher,
    pub(super) only_matching: bool,
    pub(super) limit: RowLimit,
    pub(super) rows: Vec<Row>,
    /// Rows of files before this one.
    pub(super) rows_before: usize,
    pub(super) bytes: usize,
}

impl LineSink<'_> {
    /// True when no answer can show what would follow.
    pub(super) fn is_full(&self) -> bool {
        let rows = self.rows_before + self.rows.len();
        rows > self.limit.offset.saturating_add(self.limit.rows) || self.bytes > self.limit.bytes
    }

    fn push(&mut self, kind: RowKind, line: Option<u64>, text: &[u8]) {
        let row = Row { kind, line, text: shown(text) };
        if self.rows_before + self.rows.len() >= self.limit.offset {
            self.bytes += row.bytes();
        }
        self.rows.push(row);
    }

    /// The matched parts alone: a match over several lines is one row for each of them.
    fn push_matches(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<()> {
        let matches = matches_within(searcher, self.matcher, found)?;
        if !searcher.multi_line_with_matcher(self.matcher) {
            for part in matches {
                let piece = found.bytes().get(part.start()..part.end()).unwrap_or_default();
                self.push(RowKind::Match, found.line_number(), piece);
            }
            return Ok(());
        }
        let mut line_number = found.line_number();
        let mut start = 0;
        for line in found.lines() {
            let text = without_terminator(line);
            let end = start + text.len();
            for part in &matches {
                let (from, to) = (part.start().max(start), part.end().min(end));
                if from < to || (part.is_empty() && (start..end).contains(&from)) {
                    let piece = text.get(from - start..to - start).unwrap_or_default();
                    self.push(RowKind::Match, line_number, piece);
                }
            }
            start += line.len();
            line_number = line_number.map(|it| it + 1);
        }
        Ok(())
    }
}

impl Sink for &mut LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.only_matching {
            self.push_matches(searcher, found)?;
        } else {
            let mut line_number = found.line_number();
            for line in found.lines() {
                self.push(RowKind::Match, line_number, line);
                line_number = line_number.map(|it| it + 1);
            }
        }
        Ok(!self.is_full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        match context.kind() {
            SinkContextKind::Before | SinkContextKind::After | SinkContextKind::Other => {
                self.push(RowKind::Context, context.line_number(), context.bytes());
            }
        }
        Ok(!self.is_full())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push(RowKind::Gap, None, b"");
        Ok(!self.is_full())
    }
}

/// Every match in what the searcher found, relative to its first byte.
fn matches_within(
    searcher: &Searcher,
    matcher: &LineMatcher,
    found: &SinkMatch<'_>,
) -> io::Result<Vec<Match>> {
    let range = found.bytes_range_in_buffer();
    let buffer = found.buffer();
    // The pattern has to see what it saw before: with a line alone, its end must stay out of sight.
    let end = if searcher.multi_line_with_matcher(matcher) {
        buffer.len().min(range.end + LOOK_AHEAD_BYTES)
    } else {
        range.start + without_terminator(buffer.get(range.clone()).unwrap_or_default()).len()
    };
    let haystack = buffer.get(..end).unwrap_or_default();
    let mut spans = Vec::new();
    matcher
        .find_iter_at(haystack, range.start, |it| {
            if it.start() >= range.end {
                return false;
            }
            spans.push(Match::new(it.start() - range.start, it.end() - range.start));
            true
        })
        .map_err(io::Error::other)?;
    // Nothing, found behind the last byte, is not worth a row.
    if spans.last().is_some_and(|it| it.is_empty() && it.start() >= found.bytes().len()) {
        spans.pop();
    }
    Ok(spans)
}

fn without_terminator(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = without_terminator(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn shown(line: &[u8]) -> RowText {
    let line = without_line_end(line);
    let text = String::from_utf8_lossy(line);
    if text.len() > MAX_LINE_CHARS {
        let chars = text.chars().count();
        if chars > MAX_LINE_CHARS {
            return RowText::Long { chars };
        }
    }
    RowText::Whole(text.into())
}
