//! Searches only some texts of a file, with the rows that a search of the whole file has.
//!
//! The texts come from an index, which knows that no line outside of them matches. With context, the lines
//! around a text are searched with it, and what is between two texts shows as a gap.

use std::{
    fs::File,
    io::{self, Seek as _},
};

use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::{
    file_scanner::{Details, FileSink},
    file_texts::{FileTexts, TextRange},
    watched_matcher::WatchedMatcher,
};

/// How far from a text its context is looked for. If lines are longer, the whole file is searched.
const CONTEXT_BYTES: u64 = 32 * 1024;
/// Texts that touch are read at once up to this length: what was read is still close to the processor then.
const MAX_JOINED_BYTES: u64 = 128 * 1024;
/// Longer texts are not read at once; then the whole file is searched.
const MAX_TEXT_BYTES: u64 = 8 * 1024 * 1024;

/// Searches texts on one thread.
pub(super) struct TextScanner {
    searcher: Searcher,
    before: usize,
    after: usize,
    text: TextBuffer,
}

/// What was read last. It only grows: what is left over is overwritten.
#[derive(Default)]
struct TextBuffer {
    bytes: Vec<u8>,
    length: usize,
}

impl TextBuffer {
    fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Reads a part of a file: all of it, or less if the file has become shorter.
    fn read(&mut self, file: &mut File, start: u64, bytes: u64) -> io::Result<()> {
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        // Not `read_to_end`, which reads once more to find the end.
        self.length = 0;
        while let Some(room) = self.bytes.get_mut(self.length..wanted).filter(|it| !it.is_empty()) {
            match read_at(file, room, start + self.length as u64) {
                Ok(0) => break,
                Ok(read) => self.length += read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }
}

/// Reads at an offset of a file. On Unix this needs no separate system call to seek.
fn read_at(file: &mut File, into: &mut [u8], at: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, into, at);
    #[cfg(not(unix))]
    {
        use std::io::{Read as _, Seek as _};
        file.seek(io::SeekFrom::Start(at))?;
        file.read(into)
    }
}

impl TextScanner {
    /// `builder` has all settings of the search.
    pub(super) fn new(builder: &mut SearcherBuilder, details: Details) -> Self {
        // A byte order mark is one only at the start of a file.
        let searcher = builder.bom_sniffing(false).build();
        Self { searcher, before: details.before, after: details.after, text: TextBuffer::default() }
    }

    /// Searches the texts of a file. Returns false, before anything was found, if the whole file has to be
    /// searched; it is at its beginning then.
    pub(super) fn scan(
        &mut self,
        file: &mut File,
        texts: &FileTexts,
        matcher: &WatchedMatcher<'_>,
        sink: &mut FileSink<'_>,
    ) -> io::Result<bool> {
        if !texts.are_in(file) {
            return Ok(false);
        }
        let Some(ranges) = self.with_context(file, texts)? else {
            file.rewind()?;
            return Ok(false);
        };
        let has_context = self.before > 0 || self.after > 0;
        let mut sink = TextMatchSink { sink, has_context, rows: RowsSoFar::None, full: false };
        for range in &ranges {
            if sink.full || matcher.is_cancelled() {
                break;
            }
            self.text.read(file, range.start, range.bytes)?;
            sink.sink.go_to_text(range.lines_before);
            if sink.rows == RowsSoFar::Here {
                sink.rows = RowsSoFar::Before;
            }
            self.searcher.search_slice(matcher, self.text.text(), &mut sink)?;
        }
        Ok(true)
    }

    /// The texts with the lines before and after them that a match may show. `None` if that is too much.
    fn with_context(
        &mut self,
        file: &mut File,
        texts: &FileTexts,
    ) -> io::Result<Option<Vec<TextRange>>> {
        let mut ranges: Vec<TextRange> = Vec::with_capacity(texts.ranges.len());
        let has_context = self.before > 0 || self.after > 0;
        for range in &texts.ranges {
            let mut range = *range;
            if has_context {
                let Some(wider) = self.widened(file, range, texts.stamp.bytes())? else {
                    return Ok(None);
                };
                range = wider;
            }
            match ranges.last_mut() {
                // Texts that touch are one, so that no gap shows between them. Without context it only saves work.
                Some(last)
                    if last.start + last.bytes >= range.start
                        && (has_context || last.bytes + range.bytes <= MAX_JOINED_BYTES) =>
                {
                    let end = (last.start + last.bytes).max(range.start + range.bytes);
                    last.bytes = end - last.start;
                }
                Some(_) | None => ranges.push(range),
            }
        }
        Ok(ranges.iter().all(|it| it.bytes <= MAX_TEXT_BYTES).then_some(ranges))
    }

    /// A text with as many lines before and after it as are shown. `None` if these are too long.
    fn widened(
        &mut self,
        file: &mut File,
        range: TextRange,
        file_bytes: u64,
    ) -> io::Result<Option<TextRange>> {
        let mut wider = range;
        if self.before > 0 {
            let bytes = range.start.min(CONTEXT_BYTES);
            let from = range.start - bytes;
            self.text.read(file, from, bytes)?;
            // The text before ends with a line, whose end is the first one met.
            let mut ends = memchr::memrchr_iter(b'\n', self.text.text()).skip(self.before);
            let start = match ends.next() {
                Some(at) => from + at as u64 + 1,
                None if from == 0 => 0,
                None => return Ok(None),
            };
            let lines =
                memchr::memchr_iter(b'\n', self.text.text()).count().min(self.before) as u64;
            wider.bytes += range.start - start;
            wider.start = start;
            wider.lines_before = range.lines_before.saturating_sub(lines);
        }
        let end = range.start + range.bytes;
        if self.after > 0 && end < file_bytes {
            let bytes = (file_bytes - end).min(CONTEXT_BYTES);
            self.text.read(file, end, bytes)?;
            let mut ends = memchr::memchr_iter(b'\n', self.text.text()).skip(self.after - 1);
            wider.bytes += match ends.next() {
                Some(at) => at as u64 + 1,
                None if end + bytes == file_bytes => bytes,
                None => return Ok(None),
            };
        }
        Ok(Some(wider))
    }
}

/// Passes on what is found in the texts of a file as if it had been searched at once.
struct TextMatchSink<'s, 'm> {
    sink: &'s mut FileSink<'m>,
    has_context: bool,
    rows: RowsSoFar,
    /// Whether the sink wants no more.
    full: bool,
}

/// Where rows were found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowsSoFar {
    None,
    /// Only in texts before this one.
    Before,
    /// In this text.
    Here,
}

impl TextMatchSink<'_, '_> {
    /// Shows the gap between this text and the one before, if both have something to show.
    fn begin_row(&mut self, searcher: &Searcher) -> io::Result<bool> {
        let is_gap = self.rows == RowsSoFar::Before && self.has_context;
        self.rows = RowsSoFar::Here;
        let goes_on = !is_gap || self.sink.context_break(searcher)?;
        Ok(self.note(goes_on))
    }

    fn note(&mut self, goes_on: bool) -> bool {
        self.full |= !goes_on;
        goes_on
    }
}

impl Sink for TextMatchSink<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.begin_row(searcher)? {
            return Ok(false);
        }
        let goes_on = self.sink.matched(searcher, found)?;
        Ok(self.note(goes_on))
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if !self.begin_row(searcher)? {
            return Ok(false);
        }
        let goes_on = self.sink.context(searcher, context)?;
        Ok(self.note(goes_on))
    }

    fn context_break(&mut self, searcher: &Searcher) -> io::Result<bool> {
        let goes_on = self.sink.context_break(searcher)?;
        Ok(self.note(goes_on))
    }
}
