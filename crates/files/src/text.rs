//! Decodes text files of any common encoding as a stream, so that the memory it takes does not
//! depend on the size of the file.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};

/// How many bytes are read at a time.
const CHUNK: usize = 64 * 1024;
/// How many bytes of a file are used to guess its encoding.
const GUESS_BYTES: usize = 1024 * 1024;
/// How many bytes of a file are checked for a NUL byte, which means that it is binary.
pub const BINARY_PROBE: usize = 8 * 1024;

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding {
    pub(super) encoding: &'static Encoding,
    pub(super) bom: bool,
    pub(super) damaged: bool,
}

impl TextEncoding {
    /// A readable name, such as `UTF-8`, `UTF-16LE with BOM` or `windows-1252`.
    pub fn label(self) -> String {
        let bom = if self.bom { " with BOM" } else { "" };
        let damaged = if self.damaged { " with invalid bytes" } else { "" };
        format!("{}{bom}{damaged}", self.encoding.name())
    }

    /// Whether this is valid UTF-8 without a byte order mark, which does not have to be mentioned.
    pub fn is_plain_utf8(self) -> bool {
        self.encoding == UTF_8 && !self.bom && !self.damaged
    }
}

/// The result of decoding a file.
#[derive(Debug)]
pub struct TextPass {
    pub encoding: TextEncoding,
    /// The hash of the bytes that were read.
    pub hash: blake3::Hash,
    pub bytes: u64,
    /// Whether the file was read to its end.
    pub is_whole: bool,
}

/// Receives a text as it is decoded.
pub trait TextSink {
    /// Receives the next piece.
    fn push(&mut self, piece: &str);
    /// Discards everything so far, because decoding starts again with another encoding.
    fn restart(&mut self);
    /// Whether the rest of the text is not needed.
    fn has_enough(&self) -> bool;
}

/// Decodes a file of `length` bytes until `sink` has enough, and hashes the bytes.
///
/// If a file turns out not to be UTF-8, it is decoded again from its start in another encoding, and `sink`
/// is restarted. Bytes that are appended meanwhile are not read.
pub fn decode_file(
    file: &mut File,
    head: &[u8],
    length: u64,
    sink: &mut dyn TextSink,
    cancelled: &dyn Fn() -> bool,
) -> io::Result<TextPass> {
    let decode = |file: &mut File, encoding, malformed, sink: &mut dyn TextSink| {
        file.seek(SeekFrom::Start(0))?;
        Decoding { source: file.take(length.max(head.len() as u64)), length, cancelled }
            .run(encoding, malformed, sink)
    };
    let marked = Encoding::for_bom(head);
    if let Some((encoding, _)) = marked {
        let pass = decode(file, encoding, Malformed::Replaced, sink)?;
        return Ok(pass.in_encoding(encoding, true));
    }
    match decode(file, UTF_8, Malformed::Stops, sink) {
        Ok(pass) => return Ok(pass.in_encoding(UTF_8, false)),
        Err(err) if err.kind() == io::ErrorKind::InvalidData => sink.restart(),
        Err(err) => return Err(err),
    }
    file.seek(SeekFrom::Start(0))?;
    let mut sample = Vec::with_capacity(CHUNK);
    // One more byte shows whether the file is longer.
    (&mut *file).take(GUESS_BYTES as u64 + 1).read_to_end(&mut sample)?;
    let guess = guess_encoding(&sample);
    let pass = decode(file, guess, Malformed::Replaced, sink)?;
    Ok(pass.in_encoding(guess, false))
}

/// Guesses the encoding of bytes without a byte order mark that are not valid UTF-8, by their beginning.
///
/// UTF-8 with a few invalid bytes is still UTF-8. Otherwise the most likely encoding is returned.
pub(super) fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..GUESS_BYTES).unwrap_or(bytes);
    // A character that is cut off at the end of the sample would exclude its encoding.
    let is_whole = sample.len() == bytes.len();
    let (mut valid, mut invalid, mut seen) = (0_usize, 0_usize, 0_usize);
    for chunk in sample.utf8_chunks() {
        valid += chunk.valid().chars().filter(|it| !it.is_ascii()).count();
        seen += chunk.valid().len() + chunk.invalid().len();
        let torn = !is_whole && seen == sample.len();
        invalid += usize::from(!chunk.invalid().is_empty() && !torn);
    }
    if valid > invalid.saturating_mul(4) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_whole);
    detector.guess(None, Utf8Detection::Deny)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Malformed {
    Stops,
    Replaced,
}

struct Decoded {
    hash: blake3::Hash,
    bytes: u64,
    damaged: bool,
    is_whole: bool,
}

impl Decoded {
    fn in_encoding(self, encoding: &'static Encoding, bom: bool) -> TextPass {
        let encoding = TextEncoding { encoding, bom, damaged: self.damaged };
        TextPass { encoding, hash: self.hash, bytes: self.bytes, is_whole: self.is_whole }
    }
}

/// Decodes a file in one encoding.
struct Decoding<'a, R> {
    source: R,
    length: u64,
    cancelled: &'a dyn Fn() -> bool,
}

impl<R: Read> Decoding<'_, R> {
    fn run(
        mut self,
        encoding: &'static Encoding,
        malformed: Malformed,
        sink: &mut dyn TextSink,
    ) -> io::Result<Decoded> {
        let mut decoder = encoding.new_decoder_with_bom_removal();
        let mut hasher = blake3::Hasher::new();
        let mut raw = vec![0; CHUNK];
        let mut text = String::with_capacity(CHUNK * 3);
        let (mut bytes, mut damaged) = (0, false);
        loop {
            if (self.cancelled)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = match self.source.read(&mut raw) {
                Ok(count) => count,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(err),
            };
            let mut rest = raw.get(..count).unwrap_or_default();
            hasher.update(rest);
            bytes += count as u64;
            let last = count == 0;
            loop {
                text.clear();
                let finished = match malformed {
                    Malformed::Stops => {
                        let (result, read) =
                            decoder.decode_to_string_without_replacement(rest, &mut text, last);
                        rest = rest.get(read..).unwrap_or_default();
                        match result {
                            DecoderResult::InputEmpty => true,
                            DecoderResult::OutputFull => false,
                            DecoderResult::Malformed(..) => {
                                return Err(io::ErrorKind::InvalidData.into());
                            }
                        }
                    }
                    Malformed::Replaced => {
                        let (result, read, replaced) =
                            decoder.decode_to_string(rest, &mut text, last);
                        rest = rest.get(read..).unwrap_or_default();
                        damaged |= replaced;
                        result == CoderResult::InputEmpty
                    }
                };
                sink.push(&text);
                if finished {
                    break;
                }
            }
            if last || (bytes < self.length && sink.has_enough()) {
                return Ok(Decoded { hash: hasher.finalize(), bytes, damaged, is_whole: last });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::SHIFT_JIS;

    use super::*;

    #[test]
    fn a_character_torn_by_the_end_of_the_sample_does_not_mislead_the_guess() {
        for shift in ["", "a"] {
            let text = format!("{shift}{}", "設定ファイルを読み込みます。\n".repeat(50_000));
            let bytes = SHIFT_JIS.encode(&text).0;
            assert!(bytes.len() > GUESS_BYTES);
            assert_eq!(guess_encoding(&bytes), SHIFT_JIS);
            let unbroken = text.replace('\n', "");
            assert_eq!(guess_encoding(&SHIFT_JIS.encode(&unbroken).0), SHIFT_JIS);
            let padding = "x".repeat(GUESS_BYTES - 7);
            let damaged = [format!("{shift}ééé{padding}ü").as_bytes(), b"\xff"].concat();
            assert_eq!(guess_encoding(&damaged), UTF_8);
        }
    }
}
