//! Reads a file for the index and cuts it into texts, which end at the end of a line.
//!
//! This follows how a file is searched (`file_scanner.rs`): a search ends at the first NUL
//! byte, skips a byte order mark, and decodes a file whose mark is not that of UTF-8.

use std::{
    fs::File,
    io::{self, Read as _},
};

use super::{
    gram_numbers::GramNumbers,
    grams::{Filter, GramSet},
};
use crate::{ContentStamp, SMALL_FILE_BYTES};

/// A text is about this long: it ends with the first line that makes it longer. With longer texts a
/// search reads more for one match, and words far apart look like one word more often. Shorter
/// texts take more memory.
const TEXT_BYTES: usize = 32 * 1024;
/// The longest text that is learned. A file with a longer line is always searched.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// The largest file that is learned, unless it is binary. A larger file is always searched.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// What was learned about a file.
#[derive(Debug)]
pub(crate) struct LearnedFile {
    /// The gram numbers that its filters use.
    pub(super) numbers: GramNumbers,
    pub(super) stamp: ContentStamp,
    pub(super) content: LearnedContent,
}

/// What a file contains.
#[derive(Debug)]
pub(super) enum LearnedContent {
    /// Content that filters cannot describe, such as UTF-16. Every search reads it.
    Unclear,
    /// Binary data, which a search does not read.
    Binary,
    /// Texts.
    Texts {
        texts: Vec<LearnedText>,
        /// Whether binary data follows them.
        then_binary: bool,
        /// Whether the file begins with a byte order mark.
        has_mark: bool,
    },
}

/// A text of a file.
#[derive(Debug)]
pub(super) struct LearnedText {
    pub(super) start: u64,
    pub(super) lines_before: u64,
    pub(super) filter: Filter,
}

#[cfg(test)]
impl LearnedFile {
    /// Learns a file that does not change during the read.
    pub(crate) fn of(file: &mut File) -> Self {
        Self::numbered(file, GramNumbers::default())
    }

    #[expect(clippy::expect_used, reason = "only tests call it")]
    pub(super) fn numbered(file: &mut File, numbers: GramNumbers) -> Self {
        let mut reader = LearningReader::new(numbers);
        reader.read(file, &|| false).ok().flatten().expect("the file does not change")
    }
}

/// The beginning of a file in lower case, about as long as a text. Empty if it is binary.
pub(super) fn first_text(file: File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(TEXT_BYTES as u64).read_to_end(&mut text)?;
    text.make_ascii_lowercase();
    if memchr::memchr(0, &text).is_some() {
        text.clear();
    }
    Ok(text)
}

/// Reads files. Reuses its buffers.
pub(super) struct LearningReader {
    grams: GramSet,
    buffer: Box<[u8]>,
}

/// Cuts a file into texts while it is read.
struct TextCutter<'g> {
    grams: &'g mut GramSet,
    texts: Vec<LearnedText>,
    /// The start of the current text.
    start: u64,
    lines_before: u64,
    /// The length of the current text so far.
    bytes: usize,
    lines: u64,
}

impl LearningReader {
    pub(super) fn new(numbers: GramNumbers) -> Self {
        Self { grams: GramSet::new(numbers), buffer: vec![0; SMALL_FILE_BYTES].into() }
    }

    /// Sets the gram numbers for the next files.
    pub(super) fn number_by(&mut self, numbers: &GramNumbers) {
        self.grams.number_by(numbers);
    }

    /// Reads a file. `None` if it changed during the read, or if `is_stopped` returned true.
    pub(super) fn read(
        &mut self,
        file: &mut File,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<Option<LearnedFile>> {
        let stamp = ContentStamp::of(file)?;
        self.grams.clear();
        let Some(content) = self.read_content(file, &stamp, is_stopped)? else { return Ok(None) };
        let is_unchanged = ContentStamp::of(file)? == stamp;
        let numbers = self.grams.numbers().clone();
        Ok(is_unchanged.then_some(LearnedFile { numbers, stamp, content }))
    }

    fn read_content(
        &mut self,
        file: &mut File,
        stamp: &ContentStamp,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<Option<LearnedContent>> {
        let is_small = stamp.bytes() < SMALL_FILE_BYTES as u64;
        let is_only_one = stamp.bytes() <= TEXT_BYTES as u64;
        let mut cutter = TextCutter::new(&mut self.grams);
        let (mut total, mut has_mark, mut then_binary) = (0_u64, false, false);
        while total < stamp.bytes() {
            if is_stopped() {
                return Ok(None);
            }
            let bytes = match file.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(bytes) => bytes,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(cause),
            };
            let piece = self.buffer.get_mut(..bytes).unwrap_or_default();
            if total == 0 {
                // A mark has up to three bytes, and a short read could split it.
                if bytes < 3 && stamp.bytes() > bytes as u64 {
                    return Ok(Some(LearnedContent::Unclear));
                }
                match encoding_rs::Encoding::for_bom(piece) {
                    Some((encoding, _)) if encoding != encoding_rs::UTF_8 => {
                        return Ok(Some(LearnedContent::Unclear));
                    }
                    mark => has_mark = mark.is_some(),
                }
            }
            total += bytes as u64;
            let text_bytes = memchr::memchr(0, piece);
            if text_bytes.is_some() && is_small && !has_mark {
                return Ok(Some(LearnedContent::Binary));
            }
            then_binary = text_bytes.is_some();
            let text = piece.get_mut(..text_bytes.unwrap_or(bytes)).unwrap_or_default();
            text.make_ascii_lowercase();
            let is_too_large = stamp.bytes() > MAX_FILE_BYTES && !then_binary;
            if is_too_large || !cutter.add(text, is_only_one) {
                return Ok(Some(LearnedContent::Unclear));
            }
            if then_binary {
                break;
            }
        }
        // It grew, so it changed.
        if total > stamp.bytes() {
            return Ok(None);
        }
        Ok(Some(LearnedContent::Texts { texts: cutter.finish(), then_binary, has_mark }))
    }
}

impl<'g> TextCutter<'g> {
    fn new(grams: &'g mut GramSet) -> Self {
        Self { grams, texts: Vec::new(), start: 0, lines_before: 0, bytes: 0, lines: 0 }
    }

    /// Adds the next piece of a file. Returns false if a text became too long. The lines of a file with only
    /// one text need not be counted.
    fn add(&mut self, piece: &[u8], is_only_one: bool) -> bool {
        let mut rest = piece;
        while !rest.is_empty() {
            let (taken, is_cut) = if self.bytes < TEXT_BYTES {
                (rest.len().min(TEXT_BYTES - self.bytes), false)
            } else {
                memchr::memchr(b'\n', rest).map_or((rest.len(), false), |it| (it + 1, true))
            };
            let (text, more) = rest.split_at_checked(taken).unwrap_or((rest, &[]));
            self.grams.feed(text);
            self.bytes += taken;
            if !is_only_one {
                self.lines += memchr::memchr_iter(b'\n', text).count() as u64;
            }
            if is_cut {
                self.cut();
            }
            if self.bytes > MAX_TEXT_BYTES {
                return false;
            }
            rest = more;
        }
        true
    }

    fn cut(&mut self) {
        let filter = self.grams.take_filter();
        let (start, lines_before) = (self.start, self.lines_before);
        self.texts.push(LearnedText { start, lines_before, filter });
        self.start += self.bytes as u64;
        self.lines_before += self.lines;
        self.bytes = 0;
        self.lines = 0;
    }

    fn finish(mut self) -> Vec<LearnedText> {
        if self.bytes > 0 {
            self.cut();
        }
        self.texts
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use std::{fs, io::Write as _};

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn read(bytes: &[u8]) -> LearnedContent {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, bytes).unwrap();
        let mut file = File::open(&path).unwrap();
        LearningReader::new(GramNumbers::default())
            .read(&mut file, &|| false)
            .unwrap()
            .unwrap()
            .content
    }

    fn starts(content: &LearnedContent) -> Vec<(u64, u64)> {
        match content {
            LearnedContent::Texts { texts, .. } => {
                texts.iter().map(|it| (it.start, it.lines_before)).collect()
            }
            LearnedContent::Unclear | LearnedContent::Binary => Vec::new(),
        }
    }

    #[test]
    fn a_large_file_is_cut_after_lines() {
        let line = b"0123456789abcde\n";
        assert_eq!(starts(&read(&line.repeat(10))), [(0, 0)]);
        assert_eq!(starts(&read(b"")), []);
        let cut = TEXT_BYTES as u64 + 16;
        let texts = starts(&read(&line.repeat(3 * TEXT_BYTES / 16)));
        let lines = cut / 16;
        assert_eq!(texts, [(0, 0), (cut, lines), (2 * cut, 2 * lines)]);
        let long = [vec![b'x'; 3 * TEXT_BYTES], b"\nend".to_vec()].concat();
        assert_eq!(starts(&read(&long)), [(0, 0), (3 * TEXT_BYTES as u64 + 1, 1)]);
    }

    #[test]
    fn content_that_a_search_reads_differently_is_classified() {
        assert!(matches!(read(b"a\0b"), LearnedContent::Binary));
        assert!(matches!(read(b"\xff\xfea\0b\0"), LearnedContent::Unclear));
        assert!(matches!(read(b"\xfe\xff\0a"), LearnedContent::Unclear));
        assert!(matches!(read(&vec![b'x'; MAX_TEXT_BYTES + 1]), LearnedContent::Unclear));
        let marked = read(b"\xef\xbb\xbftext");
        assert!(matches!(marked, LearnedContent::Texts { has_mark: true, then_binary: false, .. }));
        let marked = read(b"\xef\xbb\xbftext\0");
        assert!(matches!(marked, LearnedContent::Texts { has_mark: true, then_binary: true, .. }));
        let large = [b"text\n".repeat(20_000), b"\0".repeat(200_000)].concat();
        let LearnedContent::Texts { texts, then_binary: true, .. } = read(&large) else { panic!() };
        assert_eq!(texts.len(), 100_000_usize.div_ceil(TEXT_BYTES));
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_not_learned() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![b'x'; 200_000]).unwrap();
        let grow = || {
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(b"more").unwrap();
            false
        };
        let mut reader = LearningReader::new(GramNumbers::default());
        assert!(reader.read(&mut File::open(&path).unwrap(), &grow).unwrap().is_none());
        assert!(reader.read(&mut File::open(&path).unwrap(), &|| true).unwrap().is_none());
        // The previous file leaves nothing behind for the next one.
        fs::write(&path, b"ab").unwrap();
        let learned = reader.read(&mut File::open(&path).unwrap(), &|| false).unwrap().unwrap();
        let LearnedContent::Texts { texts, .. } = learned.content else { panic!() };
        assert_eq!(texts.first().unwrap().filter.set_bits().count(), 0);
    }
}
