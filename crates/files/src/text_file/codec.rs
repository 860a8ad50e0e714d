//! Steps through encoded text character by character, and encodes text in legacy encodings.

use encoding_rs::{DecoderResult, EncoderResult, Encoding, UTF_16LE};

/// How many bytes are between two recorded offsets.
pub(super) const BLOCK: usize = 4 * 1024;
/// In every encoding that contains ASCII, a byte below this is a whole character and ends even an
/// incomplete one before it. The lowest trail byte is `0`, in gb18030.
const NEVER_A_TRAIL_BYTE: u8 = 0x30;

/// The length of one step, in the text and in the file.
pub(super) struct DecodedStep {
    pub(super) text: usize,
    pub(super) bytes: usize,
}

/// The length of a block that can be decoded separately.
pub(super) fn block_length(rest: &[u8], encoding: &'static Encoding) -> usize {
    let tail = rest.get(BLOCK..).unwrap_or_default();
    if encoding.is_ascii_compatible() {
        let end = tail.iter().position(|it| *it < NEVER_A_TRAIL_BYTE);
        return end.map_or(rest.len(), |it| BLOCK + it + 1);
    }
    let high_byte = usize::from(encoding == UTF_16LE);
    let ends_a_character = |unit: &[u8]| unit.get(high_byte).is_some_and(|it| it & 0xfc != 0xd8);
    let end = tail.chunks_exact(2).position(ends_a_character);
    end.map_or(rest.len(), |it| BLOCK + it * 2 + 2)
}

/// The next character, or the next run of ASCII of at most `most` bytes.
pub(super) fn step(rest: &[u8], encoding: &'static Encoding, most: usize) -> Option<DecodedStep> {
    if encoding.is_ascii_compatible() {
        let run = Encoding::ascii_valid_up_to(rest.get(..most).unwrap_or(rest));
        if run > 0 {
            return Some(DecodedStep { text: run, bytes: run });
        }
    }
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut written_text = [0; 32];
    for (at, byte) in rest.iter().enumerate() {
        let last = at + 1 == rest.len();
        let (result, _, written) =
            decoder.decode_to_utf8_without_replacement(&[*byte], &mut written_text, last);
        match result {
            DecoderResult::Malformed(bad, _) => {
                let text = char::REPLACEMENT_CHARACTER.len_utf8();
                return Some(DecodedStep { text, bytes: usize::from(bad) });
            }
            _ if written > 0 => return Some(DecodedStep { text: written, bytes: at + 1 }),
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
    }
    None
}

/// Encodes text in an encoding that is not Unicode. The error is the first character that it lacks.
pub(super) fn encode_legacy(text: &str, encoding: &'static Encoding) -> Result<Vec<u8>, char> {
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    let mut bytes = Vec::new();
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
        bytes.reserve(room.unwrap_or(rest.len()));
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        match result {
            EncoderResult::InputEmpty => return Ok(bytes),
            EncoderResult::OutputFull => rest = rest.get(read..).unwrap_or_default(),
            EncoderResult::Unmappable(character) => return Err(character),
        }
    }
}
