//! Collects the matches of a file: whether there is one, how many there are, or the lines.

use std::io;

use grep_matcher::{Match, Matcher as _};
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::{
    answer::{Row, RowKind, RowText},
    watched_matcher::WatchedMatcher,
};

/// The longest line that is shown, in characters.
const MAX_LINE_CHARS: usize = 500;
/// How many bytes after a match that spans lines are given to the pattern again, in case it depends on
/// them.
const LOOK_AHEAD_BYTES: usize = 128;

/// Receives the matches of a file.
pub(super) trait MatchSink: Sink<Error = io::Error> {
    /// Tells how many lines of the file come before the text that is searched next.
    fn go_to_text(&mut self, _lines_before: u64) {}
}

/// Notes whether there is a match, and stops at the first.
#[derive(Debug, Default)]
pub(super) struct Presence(pub(super) bool);

impl Sink for Presence {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }
}

impl MatchSink for Presence {}

/// Counts matching lines, or matches if they may span lines.
pub(super) struct Counter<'m> {
    pub(super) matcher: &'m WatchedMatcher<'m>,
    pub(super) count: u64,
}

impl Sink for Counter<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if searcher.multi_line_with_matcher(self.matcher) {
            let count = &mut self.count;
            each_match(searcher, self.matcher, found, &mut |_| {
                *count += 1;
                true
            })?;
        } else {
            self.count += 1;
        }
        Ok(true)
    }
}

impl MatchSink for Counter<'_> {}

/// How many rows an answer can show. More are never kept of a file or of a group of files.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLimit {
    /// The number of rows that the answer skips.
    pub(super) offset: usize,
    /// The number of rows that it shows.
    pub(super) rows: usize,
    /// The number of bytes that it shows.
    pub(super) bytes: usize,
}

/// Collects the rows of one file.
pub(super) struct LineSink<'m> {
    pub(super) matcher: &'m WatchedMatcher<'m>,
    pub(super) only_matching: bool,
    pub(super) limit: RowLimit,
    pub(super) rows: Vec<Row>,
    /// How many lines come before those that the searcher counts.
    pub(super) lines_before: u64,
    /// How many rows are known to come before those of this file.
    pub(super) rows_before: usize,
    /// Whether those are all rows that come before. Then it is known which rows the answer skips, and
    /// their text is not kept.
    pub(super) in_order: bool,
    /// How many bytes of the answer the rows after the offset take, including those before this file.
    pub(super) bytes: usize,
    /// The memory that all rows of this file take.
    pub(super) held: usize,
}

impl LineSink<'_> {
    /// Whether the answer is full, so that no further row can be shown.
    pub(super) fn is_full(&self) -> bool {
        let rows = self.rows_before + self.rows.len();
        rows > self.limit.offset.saturating_add(self.limit.rows) || self.bytes > self.limit.bytes
    }

    /// Adds a row. Returns false if no further row can be shown.
    fn push(&mut self, kind: RowKind, line: Option<u64>, text: &[u8]) -> bool {
        let passed_over = self.rows_before + self.rows.len() < self.limit.offset;
        let text = if passed_over && self.in_order { b"" } else { text };
        let line = line.map(|it| it + self.lines_before);
        let row = Row { kind, line, text: shown(text) };
        self.held += row.bytes();
        if !passed_over {
            self.bytes += row.bytes();
        }
        self.rows.push(row);
        !self.is_full()
    }

    /// Adds only the matched parts of lines.
    fn push_matches(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<()> {
        let (matcher, text) = (self.matcher, found.bytes());
        if !searcher.multi_line_with_matcher(matcher) {
            let line = found.line_number();
            return each_match(searcher, matcher, found, &mut |part| {
                let piece = text.get(part.start()..part.end()).unwrap_or_default();
                self.push(RowKind::Match, line, piece)
            });
        }
        let mut lines = LineCursor::new(text, found.line_number());
        each_match(searcher, matcher, found, &mut |part| {
            lines.go_to(part.start());
            loop {
                if let Some(piece) = lines.part_of(part)
                    && !self.push(RowKind::Match, lines.number, piece)
                {
                    return false;
                }
                // The next match may begin in the line in which this one ends.
                if part.end() <= lines.next || !lines.advance() {
                    return true;
                }
            }
        })
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.only_matching {
            self.push_matches(searcher, found)?;
        } else {
            let mut line_number = found.line_number();
            for line in found.lines() {
                if !self.push(RowKind::Match, line_number, line) {
                    break;
                }
                line_number = line_number.map(|it| it + 1);
            }
        }
        Ok(!self.is_full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(match context.kind() {
            SinkContextKind::Before | SinkContextKind::After | SinkContextKind::Other => {
                self.push(RowKind::Context, context.line_number(), context.bytes())
            }
        })
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        Ok(self.push(RowKind::Gap, None, b""))
    }
}

impl MatchSink for LineSink<'_> {
    fn go_to_text(&mut self, lines_before: u64) {
        self.lines_before = lines_before;
    }
}

/// Goes through a text line by line, following matches that come in order.
struct LineCursor<'t> {
    text: &'t [u8],
    start: usize,
    /// The start of the next line.
    next: usize,
    number: Option<u64>,
}

impl<'t> LineCursor<'t> {
    fn new(text: &'t [u8], number: Option<u64>) -> Self {
        Self { text, start: 0, next: end_of_line(text, 0), number }
    }

    /// Moves to the next line. Returns false if there is none.
    fn advance(&mut self) -> bool {
        if self.next >= self.text.len() {
            return false;
        }
        self.start = self.next;
        self.next = end_of_line(self.text, self.start);
        self.number = self.number.map(|it| it + 1);
        true
    }

    fn go_to(&mut self, at: usize) {
        while self.next <= at && self.advance() {}
    }

    /// The part of this line that a match covers, without the line ending.
    fn part_of(&self, part: Match) -> Option<&'t [u8]> {
        let line = without_terminator(self.text.get(self.start..self.next).unwrap_or_default());
        let end = self.start + line.len();
        let (from, to) = (part.start().max(self.start), part.end().min(end));
        let is_here = from < to || (part.is_empty() && (self.start..end).contains(&from));
        is_here.then(|| self.text.get(from..to).unwrap_or_default())
    }
}

/// The end of the line that begins at `start`, including its terminator.
fn end_of_line(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |it| start + it + 1)
}

/// Calls `each` for every match in what the searcher found, with positions relative to its first byte,
/// until it returns false.
fn each_match(
    searcher: &Searcher,
    matcher: &WatchedMatcher<'_>,
    found: &SinkMatch<'_>,
    each: &mut dyn FnMut(Match) -> bool,
) -> io::Result<()> {
    let range = found.bytes_range_in_buffer();
    let buffer = found.buffer();
    // The pattern must see the same text as in the search. There a single line has no terminator.
    let end = if searcher.multi_line_with_matcher(matcher) {
        buffer.len().min(range.end + LOOK_AHEAD_BYTES)
    } else {
        range.start + without_terminator(buffer.get(range.clone()).unwrap_or_default()).len()
    };
    let haystack = buffer.get(..end).unwrap_or_default();
    matcher
        .find_iter_at(haystack, range.start, |it| {
            it.start() < range.end
                && each(Match::new(it.start() - range.start, it.end() - range.start))
        })
        .map_err(io::Error::other)
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
