//! Text in any encoding a person has, decoded as a stream: memory stays flat for any file size.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;
/// How much of a file a guess at its encoding looks at.
const GUESS_BYTES: usize = 1024 * 1024;
/// How much of a file is looked at for a NUL, the mark of binary content.
pub(super) const BINARY_PROBE: usize = 8 * 1024;

/// How a text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding {
    pub(super) encoding: &'static Encoding,
    pub(super) bom: bool,
    pub(super) damaged: bool,
}

impl TextEncoding {
    /// The name for people: `UTF-8`, `UTF-16LE with BOM`, `windows-1252`…
    pub fn label(self) -> String {
        let bom = if self.bom { " with BOM" } else { "" };
        let damaged = if self.damaged { " with invalid bytes" } else { "" };
        format!("{}{bom}{damaged}", self.encoding.name())
    }

    /// True for UTF-8 without a mark and without damage, which needs no mention.
    pub fn is_plain_utf8(self) -> bool {
        self.encoding == UTF_8 && !self.bom && !self.damaged
    }
}

/// What one pass over a file found.
#[derive(Debug)]
pub(super) struct TextPass {
    pub(super) encoding: TextEncoding,
    pub(super) hash: blake3::Hash,
    pub(super) bytes: u64,
}

/// Decodes the whole file from its start, hands each piece to `sink`, and hashes the bytes.
///
/// `sink` may see a piece from the beginning again: a file that stops being UTF-8 half way is
/// decoded anew in the encoding it turns out to have. `restart` tells.
pub(super) fn decode_file(
    file: &mut File,
    head: &[u8],
    sink: &mut dyn FnMut(&str),
    restart: &mut dyn FnMut(),
    cancelled: &dyn Fn() -> bool,
) -> io::Result<TextPass> {
    let marked = Encoding::for_bom(head);
    if let Some((encoding, _)) = marked {
        let damaged = |damaged| TextEncoding { encoding, bom: true, damaged };
        let pass = decode(file, encoding, Malformed::Replaced, sink, cancelled)?;
        return Ok(TextPass {
            encoding: damaged(pass.damaged),
            hash: pass.hash,
            bytes: pass.bytes,
        });
    }
    match decode(file, UTF_8, Malformed::Stops, sink, cancelled) {
        Ok(pass) => {
            let encoding = TextEncoding { encoding: UTF_8, bom: false, damaged: false };
            return Ok(TextPass { encoding, hash: pass.hash, bytes: pass.bytes });
        }
        Err(err) if err.kind() == io::ErrorKind::InvalidData => restart(),
        Err(err) => return Err(err),
    }
    file.seek(SeekFrom::Start(0))?;
    let mut sample = Vec::with_capacity(CHUNK);
    // One byte more than is looked at tells whether there is more.
    file.take(GUESS_BYTES as u64 + 1).read_to_end(&mut sample)?;
    let guess = guess_encoding(&sample);
    let pass = decode(file, guess, Malformed::Replaced, sink, cancelled)?;
    let encoding = TextEncoding { encoding: guess, bom: false, damaged: pass.damaged };
    Ok(TextPass { encoding, hash: pass.hash, bytes: pass.bytes })
}

/// The encoding of bytes that have no mark and are not UTF-8 throughout, by their beginning.
///
/// UTF-8 with a few bad bytes stays UTF-8; anything else is what its bytes look most like.
pub(super) fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..GUESS_BYTES).unwrap_or(bytes);
    // A character torn by the cut would count as damage, and rule its encoding out.
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
}

fn decode(
    file: &mut File,
    encoding: &'static Encoding,
    malformed: Malformed,
    sink: &mut dyn FnMut(&str),
    cancelled: &dyn Fn() -> bool,
) -> io::Result<Decoded> {
    file.seek(SeekFrom::Start(0))?;
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut hasher = blake3::Hasher::new();
    let mut raw = vec![0; CHUNK];
    let mut text = String::with_capacity(CHUNK * 3);
    let mut done = Decoded { hash: blake3::Hash::from_bytes([0; 32]), bytes: 0, damaged: false };
    loop {
        if cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = match file.read(&mut raw) {
            Ok(count) => count,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => return Err(err),
        };
        let mut rest = raw.get(..count).unwrap_or_default();
        hasher.update(rest);
        done.bytes += count as u64;
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
                    let (result, read, replaced) = decoder.decode_to_string(rest, &mut text, last);
                    rest = rest.get(read..).unwrap_or_default();
                    done.damaged |= replaced;
                    result == CoderResult::InputEmpty
                }
            };
            sink(&text);
            if finished {
                break;
            }
        }
        if last {
            done.hash = hasher.finalize();
            return Ok(done);
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
