//! Decompresses bodies piece by piece into a buffer of limited size.
//!
//! A thousand bytes may expand to a billion. When the buffer is full, it returns an error, which stops the
//! decoder in the middle of a piece.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::{Decompress, FlushDecompress, Status, write::GzDecoder};

/// The header `Accept-Encoding`.
pub(super) const ACCEPTED_ENCODINGS: &str = "gzip, deflate, br";

/// The size of a decoder's output buffer.
const STEP: usize = 16 * 1024;

/// The largest brotli window, in bits, for which the number of decoders is not limited: 1 MiB.
const SMALL_WINDOW_BITS: u32 = 20;

/// Why a body cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnpackError(pub(super) String);

/// Whether more of the body is needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unpacking {
    /// More is needed.
    NeedsMore,
    /// The compressed stream has ended; later bytes are ignored.
    Ended,
    /// The buffer is full, and there is more content.
    Full,
}

/// Decompresses a body and keeps the result.
pub(super) struct Unpacker {
    decoder: Decoder,
    has_ended: bool,
    packed_bytes: usize,
}

enum Decoder {
    Plain(BoundedBuffer),
    Gzip(Box<GzDecoder<BoundedBuffer>>),
    /// `deflate` means the zlib format, but some servers send it without the zlib header. The first two bytes
    /// decide.
    UnknownDeflate(Vec<u8>, BoundedBuffer),
    Deflate(Inflater),
    Brotli(Box<DecompressorWriter<BoundedBuffer>>),
}

impl Unpacker {
    /// For a body with this `Content-Encoding`, of which `limit` bytes are kept.
    pub(super) fn new(content_encoding: &str, limit: usize) -> Result<Self, UnpackError> {
        let buffer = BoundedBuffer { bytes: Vec::new(), limit, is_full: false };
        let names = content_encoding.split(',').map(|it| it.trim().to_ascii_lowercase());
        let names: Vec<String> = names.filter(|it| !it.is_empty() && it != "identity").collect();
        let decoder = match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => Decoder::Plain(buffer),
            ["gzip" | "x-gzip"] => Decoder::Gzip(Box::new(GzDecoder::new(buffer))),
            ["deflate"] => Decoder::UnknownDeflate(Vec::new(), buffer),
            ["br"] => Decoder::Brotli(Box::new(DecompressorWriter::new(buffer, STEP))),
            [other] => {
                return Err(UnpackError(format!(
                    "it is packed with `{other}`, which was not asked for"
                )));
            }
            _ => {
                return Err(UnpackError(format!(
                    "it is packed several times: `{content_encoding}`"
                )));
            }
        };
        Ok(Self { decoder, has_ended: false, packed_bytes: 0 })
    }

    /// Whether the decoder needs much memory beside the buffer. Brotli refers back up to 16 MiB, which its
    /// decoder keeps; the first byte tells the window size.
    pub(super) fn is_large(&self, first_piece: &[u8]) -> bool {
        let first = first_piece.first().copied().unwrap_or_default();
        matches!(self.decoder, Decoder::Brotli(_))
            && brotli_window_bits(first).is_some_and(|it| it > SMALL_WINDOW_BITS)
    }

    /// The number of compressed bytes received.
    pub(super) fn packed_bytes(&self) -> usize {
        self.packed_bytes
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, mut piece: &[u8]) -> Result<Unpacking, UnpackError> {
        if let (Decoder::Brotli(_), 0, Some(first)) =
            (&self.decoder, self.packed_bytes, piece.first())
            && brotli_window_bits(*first).is_none()
        {
            return Err(UnpackError(
                "it is brotli with a window that pages may not have".to_owned(),
            ));
        }
        self.packed_bytes += piece.len();
        while !piece.is_empty() && !self.has_ended {
            if let Decoder::UnknownDeflate(head, buffer) = &mut self.decoder {
                let missing = 2_usize.saturating_sub(head.len()).min(piece.len());
                let (more, rest) = piece.split_at(missing);
                head.extend_from_slice(more);
                piece = rest;
                let &[first, second] = head.as_slice() else { continue };
                let buffer = buffer.take();
                let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
                let head = [first, second];
                self.decoder = Decoder::Deflate(Inflater {
                    state: Decompress::new(is_zlib),
                    has_ended: false,
                    buffer,
                });
                self.packed_bytes -= head.len();
                if self.push(&head)? == Unpacking::Full {
                    return Ok(Unpacking::Full);
                }
                continue;
            }
            match self.writer().write(piece) {
                Ok(0) => self.has_ended = true,
                Ok(taken) => piece = piece.get(taken..).unwrap_or_default(),
                Err(_) if self.buffer().is_full => return Ok(Unpacking::Full),
                Err(err) => return Err(UnpackError(err.to_string())),
            }
        }
        Ok(if self.has_ended { Unpacking::Ended } else { Unpacking::NeedsMore })
    }

    /// Call at the end of the body. Fails if the stream is incomplete.
    pub(super) fn finish(&mut self) -> Result<Unpacking, UnpackError> {
        if self.packed_bytes == 0 {
            // Responses without a body may still have a `Content-Encoding`.
            return Ok(Unpacking::Ended);
        }
        let ended = match &mut self.decoder {
            Decoder::Plain(_) => Ok(()),
            Decoder::Gzip(it) => it.try_finish(),
            Decoder::Deflate(it) if it.has_ended => Ok(()),
            Decoder::Deflate(_) | Decoder::UnknownDeflate(..) => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            // The end of the stream was already seen.
            Decoder::Brotli(_) if self.has_ended => Ok(()),
            Decoder::Brotli(it) => it.close(),
        };
        match ended {
            Ok(()) => Ok(Unpacking::Ended),
            Err(_) if self.buffer().is_full => Ok(Unpacking::Full),
            Err(_) => Err(UnpackError("it ends too early or is damaged".to_owned())),
        }
    }

    /// The decompressed bytes.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.buffer().take().bytes
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.decoder {
            Decoder::Plain(it) | Decoder::UnknownDeflate(_, it) => it,
            Decoder::Gzip(it) => it,
            Decoder::Deflate(it) => it,
            Decoder::Brotli(it) => it,
        }
    }

    fn buffer(&mut self) -> &mut BoundedBuffer {
        match &mut self.decoder {
            Decoder::Plain(it) | Decoder::UnknownDeflate(_, it) => it,
            Decoder::Gzip(it) => it.get_mut(),
            Decoder::Deflate(it) => &mut it.buffer,
            Decoder::Brotli(it) => it.get_mut(),
        }
    }
}

/// The window size of a brotli stream, from its first byte (RFC 7932, section 9.1). `None` for windows of up
/// to 1 GiB, an extension that browsers reject; the library would accept it.
fn brotli_window_bits(first: u8) -> Option<u32> {
    if first & 1 == 0 {
        return Some(16);
    }
    match (first >> 1 & 0b111, first >> 4 & 0b111) {
        (0, 0) => Some(17),
        (0, 1) => None,
        (0, small) => Some(8 + u32::from(small)),
        (large, _) => Some(17 + u32::from(large)),
    }
}

/// Decompresses `deflate`. The library's decoder does not report whether the end was reached.
struct Inflater {
    state: Decompress,
    has_ended: bool,
    buffer: BoundedBuffer,
}

impl Write for Inflater {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut step = [0; STEP];
        let (taken_before, mut rest) = (self.state.total_in(), piece);
        while !self.has_ended {
            let (input, output) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(rest, &mut step, FlushDecompress::None)?;
            self.has_ended = status == Status::StreamEnd;
            let count = |since: u64, now: u64| usize::try_from(now - since).unwrap_or(usize::MAX);
            let (taken, made) =
                (count(input, self.state.total_in()), count(output, self.state.total_out()));
            rest = rest.get(taken..).unwrap_or_default();
            self.buffer.write_all(step.get(..made).unwrap_or_default())?;
            if taken == 0 && made == 0 {
                break;
            }
        }
        Ok(usize::try_from(self.state.total_in() - taken_before).unwrap_or(usize::MAX))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A buffer that accepts `limit` bytes and then fails.
struct BoundedBuffer {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl BoundedBuffer {
    /// Moves the buffer out; the one that stays accepts nothing.
    fn take(&mut self) -> Self {
        let bytes = std::mem::take(&mut self.bytes);
        let taken = Self { bytes, limit: self.limit, is_full: self.is_full };
        self.limit = 0;
        taken
    }
}

impl Write for BoundedBuffer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.bytes.len());
        let taken = piece.get(..room).unwrap_or(piece);
        self.bytes.extend_from_slice(taken);
        if taken.is_empty() && !piece.is_empty() {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };
    use pretty_assertions::assert_eq;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// A brotli stream of uncompressed blocks (RFC 7932): a window of 16 bits (one zero bit), then for each
    /// block the bit for not-last, four nibbles of length, the flag for uncompressed, and padding.
    fn brotli(text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        for (index, block) in text.chunks(0x1000).enumerate() {
            let length = u32::try_from(block.len() - 1).unwrap();
            let header = length << 3 | 1 << 19;
            if index == 0 {
                packed.extend_from_slice(&(header << 1).to_le_bytes()[..3]);
            } else {
                packed.extend_from_slice(&header.to_le_bytes()[..3]);
            }
            packed.extend_from_slice(block);
        }
        packed.push(0b11);
        packed
    }

    fn unpack(
        encoding: &str,
        packed: &[u8],
        pieces: usize,
        limit: usize,
    ) -> Result<(Vec<u8>, Unpacking), UnpackError> {
        let mut unpacker = Unpacker::new(encoding, limit)?;
        for piece in packed.chunks(pieces) {
            match unpacker.push(piece)? {
                Unpacking::Full => return Ok((unpacker.into_bytes(), Unpacking::Full)),
                Unpacking::Ended | Unpacking::NeedsMore => {}
            }
        }
        let end = unpacker.finish()?;
        Ok((unpacker.into_bytes(), end))
    }

    #[test]
    fn every_encoding_is_decompressed_in_pieces_of_any_size() {
        let text: Vec<u8> =
            (0..20_000_u32).flat_map(|it| (it % 251).to_string().into_bytes()).collect();
        for (encoding, packed) in [
            ("", text.clone()),
            ("identity", text.clone()),
            ("GZIP", gzip(&text)),
            ("x-gzip", gzip(&text)),
            ("deflate", zlib(&text)),
            ("deflate", deflate(&text)),
            ("br", brotli(&text)),
        ] {
            for pieces in [1, 3, 1_000, packed.len()] {
                let unpacked = unpack(encoding, &packed, pieces, 1 << 20).unwrap();
                assert_eq!(unpacked.0 == text, true, "{encoding} in pieces of {pieces}");
                assert_eq!(unpacked.1, Unpacking::Ended);
            }
        }
    }

    #[test]
    fn the_limit_is_exact_to_the_byte() {
        let text = vec![b'x'; 1_000];
        for (encoding, packed) in [
            ("", text.clone()),
            ("gzip", gzip(&text)),
            ("deflate", zlib(&text)),
            ("deflate", deflate(&text)),
            ("br", brotli(&text)),
        ] {
            let (whole, end) = unpack(encoding, &packed, 7, 1_000).unwrap();
            assert_eq!((whole.len(), end), (1_000, Unpacking::Ended), "{encoding}");
            let (cut, end) = unpack(encoding, &packed, packed.len(), 999).unwrap();
            assert_eq!((cut.len(), end), (999, Unpacking::Full), "{encoding}");
        }
    }

    #[test]
    fn decompression_bombs_stop_at_the_limit() {
        let zeros = vec![0; 32 << 20];
        for (encoding, packed) in [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros))] {
            assert!(packed.len() < 64 << 10);
            let (kept, end) = unpack(encoding, &packed, packed.len(), 4_096).unwrap();
            assert_eq!((kept.len(), end), (4_096, Unpacking::Full), "{encoding}");
        }
    }

    #[test]
    fn the_brotli_window_is_read_from_the_first_byte_and_limited() {
        for (first, wanted) in [
            (0x00, Some(16)),
            (0x01, Some(17)),
            (0x21, Some(10)),
            (0x71, Some(15)),
            (0x07, Some(20)),
            (0x09, Some(21)),
            (0x0b, Some(22)),
            (0x0f, Some(24)),
            (0x11, None),
            (0x91, None),
        ] {
            assert_eq!(brotli_window_bits(first), wanted, "{first:#x}");
        }
        let unpacker = Unpacker::new("br", 9).unwrap();
        assert!(unpacker.is_large(&[0x0b]) && !unpacker.is_large(&[0x07]));
        assert!(!Unpacker::new("gzip", 9).unwrap().is_large(&[0x0b]));
        // An empty stream with a window of 1 GiB: the mark, 30 in six bits, and the last block, which is empty.
        assert!(unpack("br", &[0x11, 0b1101_1110], 2, 9).is_err());
    }

    #[test]
    fn incomplete_and_damaged_streams_fail_and_trailing_bytes_are_ignored() {
        let text = b"some text that is long enough to be packed, some text".repeat(20);
        for (encoding, packed) in
            [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("br", brotli(&text))]
        {
            let cut = &packed[..packed.len() - 9];
            assert!(unpack(encoding, cut, 50, 1 << 20).is_err(), "{encoding}");
            assert!(unpack(encoding, b"<html>plain</html>", 5, 1 << 20).is_err(), "{encoding}");
            let mut longer = packed.clone();
            longer.extend_from_slice(b"\0\0\0garbage");
            let (kept, end) = unpack(encoding, &longer, 50, 1 << 20).unwrap();
            assert_eq!((kept == text, end), (true, Unpacking::Ended), "{encoding}");
            assert_eq!(unpack(encoding, b"", 1, 9).unwrap(), (Vec::new(), Unpacking::Ended));
        }
        for encoding in ["zstd", "gzip, gzip", "br,gzip"] {
            assert!(unpack(encoding, b"x", 1, 9).is_err(), "{encoding}");
        }
    }
}
