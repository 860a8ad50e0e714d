//! A text file in memory that can be edited without changing any byte outside the edit.
//!
//! This module is about bytes and encodings. What is edited, and where, is decided elsewhere.

mod codec;

use std::{borrow::Cow, ops::Range};

use encoding_rs::{BIG5, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::text::{BINARY_PROBE, guess_encoding};
use crate::text::TextEncoding;
use codec::{BLOCK, block_length, encode_legacy, step};

/// The size of the largest file that is edited, before and after the edit.
pub const MAX_TEXT_BYTES: usize = 256 * 1024 * 1024;

/// Why a file cannot be edited as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFileError {
    /// The content is binary.
    #[error("the file is binary (it has a NUL byte); only text can be edited")]
    Binary,
    /// The new text cannot be written in the file's encoding.
    #[error(
        "the file is {encoding}, which has no `{character}` (U+{:04X}); use other characters or convert the file to UTF-8 first",
        u32::from(*.character)
    )]
    Unmappable {
        /// The first character that the encoding does not have.
        character: char,
        /// The file's encoding.
        encoding: &'static str,
    },
    /// The file would become too large.
    #[error(
        "the file would have more than {MAX_TEXT_BYTES} bytes, the limit for edits; nothing was written"
    )]
    TooLarge,
    /// An edit starts or ends inside a character or outside the text.
    #[error("bytes {start} to {end} of the text are not a range of whole characters")]
    NoSuchRange {
        /// The start of the range.
        start: usize,
        /// The end of the range.
        end: usize,
    },
    /// Two edits change the same text.
    #[error("two edits overlap at byte {at} of the text")]
    Overlap {
        /// The position where the second edit starts.
        at: usize,
    },
    /// The new text contains the character that invalid bytes are shown as.
    #[error(
        "the new text contains U+FFFD, which stands for invalid bytes of the file; leave those bytes out of the edit"
    )]
    WritesDamage,
    /// Next to the edit are invalid bytes that would form another character together with it.
    #[error("the file has invalid bytes that would merge with the edit; edit a larger range")]
    MergesWithDamage,
}

/// A text file with its text and its bytes. Borrows what it can, because a file may be large.
#[derive(Clone, Debug)]
pub struct TextFile<'b> {
    text: Cow<'b, str>,
    encoding: TextEncoding,
    original: Original<'b>,
}

/// The bytes of the file after the byte order mark.
#[derive(Clone, Debug)]
enum Original<'b> {
    /// The file is UTF-8, so its bytes are those of the text.
    SameAsText,
    Mapped {
        bytes: Cow<'b, [u8]>,
        checkpoints: Vec<Checkpoint>,
    },
}

/// The offset of the same character in the text and in the file.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    text: usize,
    bytes: usize,
}

impl<'b> TextFile<'b> {
    /// Decodes a file by its byte order mark, otherwise as UTF-8, otherwise in the most likely encoding.
    pub fn from_bytes(bytes: impl Into<Cow<'b, [u8]>>) -> Result<Self, TextFileError> {
        let bytes = bytes.into();
        if let Some((encoding, mark)) = Encoding::for_bom(&bytes) {
            return Ok(Self::decode(without_first(bytes, mark), encoding, Mark::Present));
        }
        if Self::is_binary(&bytes) {
            return Err(TextFileError::Binary);
        }
        match utf8_text(bytes) {
            Ok(text) => Ok(Self::utf8(text, Mark::Absent)),
            Err(bytes) => {
                let encoding = guess_encoding(&bytes);
                Ok(Self::decode(bytes, encoding, Mark::Absent))
            }
        }
    }

    /// Whether these bytes are binary: they have no byte order mark, and a NUL near the beginning.
    pub fn is_binary(bytes: &[u8]) -> bool {
        let head = bytes.get(..BINARY_PROBE).unwrap_or(bytes);
        Encoding::for_bom(bytes).is_none() && memchr::memchr(0, head).is_some()
    }

    fn utf8(text: Cow<'b, str>, mark: Mark) -> Self {
        let bom = mark == Mark::Present;
        let encoding = TextEncoding { encoding: UTF_8, bom, damaged: false };
        Self { text, encoding, original: Original::SameAsText }
    }

    fn decode(bytes: Cow<'b, [u8]>, encoding: &'static Encoding, mark: Mark) -> Self {
        let bytes = if encoding == UTF_8 {
            match utf8_text(bytes) {
                Ok(text) => return Self::utf8(text, mark),
                Err(bytes) => bytes,
            }
        } else {
            bytes
        };
        let mut text = String::with_capacity(bytes.len());
        let mut checkpoints = Vec::with_capacity(bytes.len() / BLOCK + 1);
        let (mut at, mut damaged) = (0, false);
        while let Some(rest) = bytes.get(at..).filter(|it| !it.is_empty()) {
            checkpoints.push(Checkpoint { text: text.len(), bytes: at });
            let block = rest.get(..block_length(rest, encoding)).unwrap_or(rest);
            let (piece, replaced) = encoding.decode_without_bom_handling(block);
            text.push_str(&piece);
            damaged |= replaced;
            at += block.len();
        }
        let encoding = TextEncoding { encoding, bom: mark == Mark::Present, damaged };
        Self { text: text.into(), encoding, original: Original::Mapped { bytes, checkpoints } }
    }

    /// The text without a byte order mark. Invalid bytes are shown as U+FFFD.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, unless the bytes of the file are the same, so that it need not be kept twice.
    pub fn into_text_unlike_bytes(self) -> Option<String> {
        let is_same = matches!(self.original, Original::SameAsText) && !self.encoding.bom;
        (!is_same).then(|| self.text.into_owned())
    }

    /// The encoding of the file.
    pub fn encoding(&self) -> TextEncoding {
        self.encoding
    }

    /// The bytes of the file with each range of [`text`](Self::text) replaced by new text.
    ///
    /// Every byte outside the ranges is copied. Ranges may be given in any order; insertions at the same
    /// position stay in the given order.
    pub fn splice<S: AsRef<str>>(
        &self,
        edits: &[(Range<usize>, S)],
    ) -> Result<Vec<u8>, TextFileError> {
        let mut edits: Vec<(&Range<usize>, &str)> =
            edits.iter().map(|(range, new_text)| (range, new_text.as_ref())).collect();
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let original = self.body();
        let inserted = edits.iter().fold(0_usize, |sum, (_, it)| sum.saturating_add(it.len()));
        let replaced = edits.iter().fold(0_usize, |sum, (it, _)| sum.saturating_add(it.len()));
        let room = original.len().saturating_add(inserted).saturating_sub(replaced);
        if room > MAX_TEXT_BYTES {
            return Err(TextFileError::TooLarge);
        }
        let mut spliced = Vec::with_capacity(room + 3);
        spliced.extend_from_slice(self.mark());
        let mut cursor = Cursor { text: 0, bytes: 0 };
        let (mut copied, mut edited) = (0, 0);
        for (range, new_text) in &edits {
            let outside = TextFileError::NoSuchRange { start: range.start, end: range.end };
            if range.start < edited {
                return Err(TextFileError::Overlap { at: range.start });
            }
            edited = range.end;
            let old_text = self.text.get((*range).clone()).ok_or_else(|| outside.clone())?;
            let (range, new_text) = self.narrow(range, old_text, new_text);
            if self.encoding.damaged && new_text.contains(char::REPLACEMENT_CHARACTER) {
                return Err(TextFileError::WritesDamage);
            }
            let start = self.advance(&mut cursor, range.start).ok_or_else(|| outside.clone())?;
            let end = self.advance(&mut cursor, range.end).ok_or(outside)?;
            spliced.extend_from_slice(original.get(copied..start).unwrap_or_default());
            spliced.extend_from_slice(&self.encode(new_text)?);
            copied = end;
        }
        let suffix = original.get(copied..).unwrap_or_default();
        spliced.extend_from_slice(suffix);
        debug_assert!(spliced.starts_with(self.mark()) && spliced.ends_with(suffix));
        if spliced.len() > MAX_TEXT_BYTES {
            return Err(TextFileError::TooLarge);
        }
        if self.encoding.damaged && !self.says(&spliced, &edits) {
            return Err(TextFileError::MergesWithDamage);
        }
        Ok(spliced)
    }

    /// The bytes of the file with `new_text` instead of its text, in the same encoding.
    ///
    /// A byte order mark is kept. Line endings are those of `new_text`.
    pub fn encode_whole(&self, new_text: &str) -> Result<Vec<u8>, TextFileError> {
        let mut bytes = self.mark().to_vec();
        let given_mark = new_text.strip_prefix('\u{feff}').filter(|_| self.encoding.bom);
        let new_text = given_mark.unwrap_or(new_text);
        if new_text.len() > MAX_TEXT_BYTES {
            return Err(TextFileError::TooLarge);
        }
        bytes.extend_from_slice(&self.encode(new_text)?);
        Ok(bytes)
    }

    /// The file with the bytes of [`splice`](Self::splice), decoded in the encoding it had. Guessing it again
    /// could give another one.
    #[must_use]
    pub fn changed_to<'c>(&self, bytes: impl Into<Cow<'c, [u8]>>) -> TextFile<'c> {
        let mark = if self.encoding.bom { Mark::Present } else { Mark::Absent };
        let body = without_first(bytes.into(), self.mark().len());
        TextFile::decode(body, self.encoding.encoding, mark)
    }

    /// The text of the file with changed bytes, unless these bytes are the same as the text.
    pub fn says_after(&self, changed: &[u8]) -> Option<String> {
        if matches!(self.original, Original::SameAsText) && !self.encoding.bom {
            return None;
        }
        self.changed_to(changed).into_text_unlike_bytes()
    }

    /// Whether `changed` would be decoded in this file's encoding again.
    ///
    /// If the encoding is a guess, an edit may change that guess. Then the file is shown
    /// differently, although its bytes are right.
    pub fn keeps_its_encoding(&self, changed: &[u8]) -> bool {
        let reads_as = |bytes: &[u8]| {
            if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { guess_encoding(bytes) }
        };
        self.encoding.bom || changed.is_ascii() || reads_as(changed) == self.encoding.encoding
    }

    fn mark(&self) -> &'static [u8] {
        match self.encoding.encoding {
            _ if !self.encoding.bom => &[],
            it if it == UTF_16LE => &[0xff, 0xfe],
            it if it == UTF_16BE => &[0xfe, 0xff],
            _ => &[0xef, 0xbb, 0xbf],
        }
    }

    fn body(&self) -> &[u8] {
        match &self.original {
            Original::SameAsText => self.text.as_bytes(),
            Original::Mapped { bytes, .. } => bytes,
        }
    }

    /// Removes unchanged text at both ends of an edit, because encoding it again could give other bytes: in
    /// `Shift_JIS` some characters have two codes, and invalid bytes have none.
    fn narrow<'a>(
        &self,
        range: &Range<usize>,
        old_text: &str,
        new_text: &'a str,
    ) -> (Range<usize>, &'a str) {
        // In Big5 a code may stand for two characters, which must not be separated.
        if matches!(self.original, Original::SameAsText) || self.encoding.encoding == BIG5 {
            return (range.clone(), new_text);
        }
        let same = |(old, new): &(char, char)| old == new;
        let length = |(it, _): (char, char)| it.len_utf8();
        let head: usize = old_text.chars().zip(new_text.chars()).take_while(same).map(length).sum();
        let (_, old_rest) = old_text.split_at(head);
        let (_, new_rest) = new_text.split_at(head);
        let ends = old_rest.chars().rev().zip(new_rest.chars().rev());
        let tail: usize = ends.take_while(same).map(length).sum();
        let (new_rest, _) = new_rest.split_at(new_rest.len() - tail);
        (range.start + head..range.end - tail, new_rest)
    }

    /// Moves forward to an offset in the text and returns the offset in the file. `None` inside the text of
    /// a single code.
    fn advance(&self, cursor: &mut Cursor, to: usize) -> Option<usize> {
        if !self.text.is_char_boundary(to) {
            return None;
        }
        let Original::Mapped { bytes, checkpoints } = &self.original else {
            *cursor = Cursor { text: to, bytes: to };
            return Some(to);
        };
        let after = checkpoints.partition_point(|it| it.text <= to);
        if let Some(near) = after.checked_sub(1).and_then(|it| checkpoints.get(it))
            && near.text > cursor.text
        {
            *cursor = Cursor { text: near.text, bytes: near.bytes };
        }
        while cursor.text < to {
            let rest = bytes.get(cursor.bytes..)?;
            let step = step(rest, self.encoding.encoding, to - cursor.text)?;
            cursor.text += step.text;
            cursor.bytes += step.bytes;
        }
        (cursor.text == to).then_some(cursor.bytes)
    }

    fn encode<'a>(&self, new_text: &'a str) -> Result<Cow<'a, [u8]>, TextFileError> {
        let encoding = self.encoding.encoding;
        let unmappable =
            |character| TextFileError::Unmappable { character, encoding: encoding.name() };
        if encoding == UTF_8 || (new_text.is_ascii() && encoding.is_ascii_compatible()) {
            return Ok(Cow::Borrowed(new_text.as_bytes()));
        }
        if encoding == UTF_16LE {
            return Ok(Cow::Owned(new_text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
        }
        if encoding == UTF_16BE {
            return Ok(Cow::Owned(new_text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
        }
        let bytes = encode_legacy(new_text, encoding).map_err(unmappable)?;
        // Some encoders replace characters: Shift_JIS turns a yen sign into a backslash.
        let (back, _) = encoding.decode_without_bom_handling(&bytes);
        let folded = new_text.chars().zip(back.chars()).find(|(wanted, got)| wanted != got);
        match folded {
            Some((wanted, _)) => Err(unmappable(wanted)),
            None => Ok(Cow::Owned(bytes)),
        }
    }

    /// Whether a result has the intended text. Checked for files with invalid bytes next to an
    /// edit.
    fn says(&self, spliced: &[u8], edits: &[(&Range<usize>, &str)]) -> bool {
        let mut wanted = String::with_capacity(spliced.len());
        let mut copied = 0;
        for (range, new_text) in edits {
            wanted.push_str(self.text.get(copied..range.start).unwrap_or_default());
            wanted.push_str(new_text);
            copied = range.end;
        }
        wanted.push_str(self.text.get(copied..).unwrap_or_default());
        let body = spliced.get(self.mark().len()..).unwrap_or_default();
        self.encoding.encoding.decode_without_bom_handling(body).0 == wanted
    }
}

/// The bytes of a new file, which is UTF-8 without a byte order mark.
pub fn encode_new_file(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Present,
    Absent,
}

struct Cursor {
    text: usize,
    bytes: usize,
}

/// The bytes without the first `count`.
fn without_first(bytes: Cow<'_, [u8]>, count: usize) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(count..).unwrap_or_default()),
        Cow::Owned(mut bytes) => {
            bytes.drain(..count.min(bytes.len()));
            Cow::Owned(bytes)
        }
    }
}

/// The bytes as text if they are valid UTF-8, otherwise the unchanged bytes as an error.
fn utf8_text(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, Cow<'_, [u8]>> {
    match bytes {
        Cow::Borrowed(bytes) => {
            std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Cow::Borrowed(bytes))
        }
        Cow::Owned(bytes) => {
            String::from_utf8(bytes).map(Cow::Owned).map_err(|err| Cow::Owned(err.into_bytes()))
        }
    }
}

#[cfg(test)]
mod tests;
