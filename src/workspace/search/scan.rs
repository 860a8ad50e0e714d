//! Searches the content of one file, the way ripgrep does: NUL means binary, a byte order mark tells
//! the encoding, lines end with `\n`.
//!
//! A small file is read whole into a buffer that is used again; a large one streams through the
//! searcher's own. Nothing is mapped: a file that is cut short meanwhile would end the process.

use std::{
    fs::File,
    io::{self, Read},
};

use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink};

use super::{
    query::{Query, Span},
    watched_matcher::WatchedMatcher,
};
use crate::workspace::walk::ShortReads;

/// The buffer of ripgrep's searcher. A file that fits is seen as a whole, there as here, so the same
/// files are binary to both.
const BUFFER_BYTES: usize = 64 * 1024;
/// The longest line, and with matches over several lines the largest file, that is searched.
pub(super) const MAX_HEAP_BYTES: usize = 16 * 1024 * 1024;

/// What to do with files that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryFiles {
    /// They are passed over.
    Skipped,
    /// They are searched as if they were text: who names a file wants it searched.
    Searched,
}

/// What takes the matches of a file. One type for all: the searcher is a lot of code, made once for each.
pub(super) type FileSink<'m> = dyn Sink<Error = io::Error> + 'm;

/// What a searcher has to hand out beside matches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details {
    pub(super) line_numbers: bool,
    pub(super) before: usize,
    pub(super) after: usize,
}

/// How the search of a file ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    Text,
    /// It was text up to about this byte, and is searched no further.
    Binary {
        from: u64,
    },
}

/// One thread's searcher.
pub(super) struct Scanner {
    searcher: Searcher,
    buffer: Box<[u8]>,
}

impl Scanner {
    pub(super) fn new(query: &Query, details: Details) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(details.line_numbers)
            .before_context(details.before)
            .after_context(details.after)
            .multi_line(query.span == Span::Lines)
            .heap_limit(Some(MAX_HEAP_BYTES))
            .memory_map(MmapChoice::never())
            .binary_detection(BinaryDetection::none())
            .build();
        Self { searcher, buffer: vec![0; BUFFER_BYTES].into() }
    }

    /// Searches a file with the matcher of this scanner's query, which also tells when to stop.
    pub(super) fn scan(
        &mut self,
        file: &mut File,
        short_reads: ShortReads,
        binary: BinaryFiles,
        matcher: &WatchedMatcher<'_>,
        sink: &mut FileSink<'_>,
    ) -> Result<Scanned, io::Error> {
        let mut length = 0;
        let whole = loop {
            let room = self.buffer.get_mut(length..).unwrap_or_default();
            if room.is_empty() {
                break false;
            }
            match file.read(room) {
                Ok(0) => break true,
                Ok(read) => {
                    length += read;
                    // One call less for each file: a twentieth of the time of a search.
                    if short_reads == ShortReads::EndFiles && length < BUFFER_BYTES {
                        break true;
                    }
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        };
        let head = self.buffer.get(..length).unwrap_or_default();
        if !whole || encoding_rs::Encoding::for_bom(head).is_some() {
            let reader = Continued { head, file, matcher };
            return stream(&mut self.searcher, matcher, reader, binary, sink);
        }
        if binary == BinaryFiles::Skipped && memchr::memchr(0, head).is_some() {
            return Ok(Scanned::Binary { from: 0 });
        }
        self.searcher.search_slice(matcher, head, &mut Watched { sink, binary_from: None })?;
        Ok(Scanned::Text)
    }

    /// Why a file was not searched to its end.
    pub(super) fn explain(&self, cause: &io::Error, matcher: &WatchedMatcher<'_>) -> String {
        // The searcher's own error is about a configuration that nobody has seen.
        if cause.kind() != io::ErrorKind::Other || cause.raw_os_error().is_some() {
            return cause.to_string();
        }
        if self.searcher.multi_line_with_matcher(matcher) {
            return format!(
                "it has more than {MAX_HEAP_BYTES} bytes, the most that are searched for matches over lines"
            );
        }
        format!("a line is longer than {MAX_HEAP_BYTES} bytes")
    }
}

fn stream(
    searcher: &mut Searcher,
    matcher: &WatchedMatcher<'_>,
    reader: Continued<'_>,
    binary: BinaryFiles,
    sink: &mut FileSink<'_>,
) -> Result<Scanned, io::Error> {
    let detection = match binary {
        BinaryFiles::Skipped => BinaryDetection::quit(0),
        BinaryFiles::Searched => BinaryDetection::none(),
    };
    searcher.set_binary_detection(detection);
    let mut watched = Watched { sink, binary_from: None };
    let ended = searcher.search_reader(matcher, reader, &mut watched);
    let binary_from = watched.binary_from;
    searcher.set_binary_detection(BinaryDetection::none());
    ended?;
    Ok(binary_from.map_or(Scanned::Text, |from| Scanned::Binary { from }))
}

/// The part of a file that was read already, then the rest.
struct Continued<'a> {
    head: &'a [u8],
    file: &'a mut File,
    matcher: &'a WatchedMatcher<'a>,
}

impl Read for Continued<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(into);
        }
        if self.matcher.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(into)
    }
}

/// Learns whether the file turned out to be binary.
struct Watched<'s, 'm> {
    sink: &'s mut FileSink<'m>,
    binary_from: Option<u64>,
}

impl Sink for Watched<'_, '_> {
    type Error = io::Error;

    fn matched(
        &mut self,
        searcher: &Searcher,
        found: &grep_searcher::SinkMatch<'_>,
    ) -> io::Result<bool> {
        self.sink.matched(searcher, found)
    }

    fn context(
        &mut self,
        searcher: &Searcher,
        context: &grep_searcher::SinkContext<'_>,
    ) -> io::Result<bool> {
        self.sink.context(searcher, context)
    }

    fn context_break(&mut self, searcher: &Searcher) -> io::Result<bool> {
        self.sink.context_break(searcher)
    }

    fn binary_data(&mut self, _: &Searcher, at: u64) -> io::Result<bool> {
        self.binary_from = Some(at);
        Ok(true)
    }
}
