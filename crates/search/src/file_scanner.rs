//! Searches the content of one file as ripgrep does: a file with a NUL byte is binary, a byte order
//! mark gives the encoding, lines end with `\n`.
//!
//! A small file is read into a buffer that is reused; a large one is streamed through the searcher's
//! buffer. Files are never memory-mapped: if such a file were truncated meanwhile, the process would
//! crash.

use std::{
    fs::File,
    io::{self, Read},
};

use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink};
use toolwright_files::ShortReads;

use super::{
    file_texts::FileTexts,
    match_sinks::MatchSink,
    query::{MatchSpan, Query},
    text_scanner::TextScanner,
    watched_matcher::WatchedMatcher,
};

/// The size of the buffer in ripgrep's searcher. Files with fewer bytes are checked for NUL bytes as a whole
/// there and here, so that both agree on which files are binary.
pub(crate) const SMALL_FILE_BYTES: usize = 64 * 1024;
/// The longest line that is searched, and if matches may span lines, the largest file.
pub(super) const MAX_HEAP_BYTES: usize = 16 * 1024 * 1024;

/// What to do with files that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryFiles {
    /// They are not searched.
    Skipped,
    /// They are searched like text, because the caller named the file.
    Searched,
}

/// What receives the matches of a file. A trait object, because the searcher is a lot of code that would
/// otherwise be compiled for every type of sink.
pub(super) type FileSink<'m> = dyn MatchSink + 'm;

/// What a searcher reports besides matches.
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
    /// Binary data was found at about this offset, where the search ended.
    Binary {
        from: u64,
    },
}

/// A file that is about to be searched.
pub(super) struct FileToSearch<'t> {
    pub(super) file: File,
    pub(super) short_reads: ShortReads,
    /// The texts in which its matches are, if only these are to be searched.
    pub(super) texts: Option<&'t FileTexts>,
}

/// The searcher of one thread, with its buffer.
pub(super) struct Scanner {
    searcher: Searcher,
    buffer: Box<[u8]>,
    /// Searches only some texts of a file, if that finds the same matches.
    texts: Option<TextScanner>,
}

impl Scanner {
    pub(super) fn new(query: &Query, details: Details) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(details.line_numbers)
            .before_context(details.before)
            .after_context(details.after)
            .multi_line(query.span == MatchSpan::Lines)
            .heap_limit(Some(MAX_HEAP_BYTES))
            .memory_map(MmapChoice::never())
            .binary_detection(BinaryDetection::none());
        let searcher = builder.build();
        let texts = query.sees_single_lines().then(|| TextScanner::new(&mut builder, details));
        Self { searcher, buffer: vec![0; SMALL_FILE_BYTES].into(), texts }
    }

    /// Searches a file, or only its texts if these are known and nothing else can match. The rows are the
    /// same.
    pub(super) fn scan_file(
        &mut self,
        target: &mut FileToSearch<'_>,
        binary: BinaryFiles,
        matcher: &WatchedMatcher<'_>,
        sink: &mut FileSink<'_>,
    ) -> Result<Scanned, io::Error> {
        let file = &mut target.file;
        if let (Some(texts), Some(scanner)) = (target.texts, &mut self.texts)
            && scanner.scan(file, texts, matcher, sink)?
        {
            return Ok(Scanned::Text);
        }
        self.scan(file, target.short_reads, binary, matcher, sink)
    }

    /// Searches a file with `matcher`, which must be that of this scanner's query and also stops the search
    /// when it is cancelled.
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
                    // This saves one system call per file, a twentieth of the time of a search.
                    if short_reads == ShortReads::EndFiles && length < SMALL_FILE_BYTES {
                        break true;
                    }
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        };
        let head = self.buffer.get(..length).unwrap_or_default();
        if !whole || encoding_rs::Encoding::for_bom(head).is_some() {
            let reader = PrefixThenFile { head, file, matcher };
            return stream(&mut self.searcher, matcher, reader, binary, sink);
        }
        if binary == BinaryFiles::Skipped && memchr::memchr(0, head).is_some() {
            return Ok(Scanned::Binary { from: 0 });
        }
        self.searcher.search_slice(
            matcher,
            head,
            &mut BinaryDetectingSink { sink, binary_from: None },
        )?;
        Ok(Scanned::Text)
    }

    /// Why a file was not searched completely.
    pub(super) fn explain(&self, cause: &io::Error, matcher: &WatchedMatcher<'_>) -> String {
        // The searcher's error is about a setting that the caller does not know.
        if cause.kind() != io::ErrorKind::Other || cause.raw_os_error().is_some() {
            return cause.to_string();
        }
        if self.searcher.multi_line_with_matcher(matcher) {
            return format!(
                "it has more than {MAX_HEAP_BYTES} bytes, the limit for matches that span lines"
            );
        }
        format!("a line is longer than {MAX_HEAP_BYTES} bytes")
    }
}

fn stream(
    searcher: &mut Searcher,
    matcher: &WatchedMatcher<'_>,
    reader: PrefixThenFile<'_>,
    binary: BinaryFiles,
    sink: &mut FileSink<'_>,
) -> Result<Scanned, io::Error> {
    let detection = match binary {
        BinaryFiles::Skipped => BinaryDetection::quit(0),
        BinaryFiles::Searched => BinaryDetection::none(),
    };
    searcher.set_binary_detection(detection);
    let mut watched = BinaryDetectingSink { sink, binary_from: None };
    let ended = searcher.search_reader(matcher, reader, &mut watched);
    let binary_from = watched.binary_from;
    searcher.set_binary_detection(BinaryDetection::none());
    ended?;
    Ok(binary_from.map_or(Scanned::Text, |from| Scanned::Binary { from }))
}

/// Reads the part of a file that is in memory already, then the rest of the file.
struct PrefixThenFile<'a> {
    head: &'a [u8],
    file: &'a mut File,
    matcher: &'a WatchedMatcher<'a>,
}

impl Read for PrefixThenFile<'_> {
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

/// Passes matches on to another sink and notes whether the file turned out to be binary.
struct BinaryDetectingSink<'s, 'm> {
    sink: &'s mut FileSink<'m>,
    binary_from: Option<u64>,
}

impl Sink for BinaryDetectingSink<'_, '_> {
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
