//! The filters that unpack streams. Each stops once its output exceeds a limit.
//!
//! Of a damaged stream, what comes before the damage is returned, as other PDF readers do.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use weezl::decode::Decoder as LzwDecoder;
use weezl::{BitOrder, LzwStatus};

use super::lexer::hex_digit;
use super::object::Dictionary;

/// How many bytes of LZW data are unpacked at a time.
const LZW_BUFFER: usize = 16 * 1024;

/// Why a filter returned no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterError {
    TooLarge,
    Unreadable,
}

/// Applies the filter of that name to `data`. More than `limit` bytes of output are an error.
pub(super) fn apply(
    filter: &[u8],
    data: &[u8],
    parameters: &Dictionary,
    limit: usize,
) -> Result<Vec<u8>, FilterError> {
    let unpacked = match filter {
        b"FlateDecode" => unpredicted(inflate(data, limit), parameters)?,
        b"LZWDecode" => {
            let grows_early = parameters.integer(b"EarlyChange") != Some(0);
            unpredicted(lzw(data, grows_early, limit), parameters)?
        }
        b"ASCII85Decode" => ascii85(data, limit).ok_or(FilterError::Unreadable)?,
        b"ASCIIHexDecode" => ascii_hex(data),
        b"RunLengthDecode" => run_length(data, limit),
        // Names the encryption of the stream, which has been decrypted already.
        b"Crypt" => data.to_vec(),
        // All other filters are for images.
        _ => return Err(FilterError::Unreadable),
    };
    if unpacked.len() > limit { Err(FilterError::TooLarge) } else { Ok(unpacked) }
}

/// Reads up to `limit` bytes and one more, which shows that there are too many.
fn read_some(reader: impl Read, limit: usize) -> Vec<u8> {
    let mut output = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // What was read before an error is in `output`.
    let _ = reader.take(most).read_to_end(&mut output);
    output
}

fn inflate(data: &[u8], limit: usize) -> Vec<u8> {
    let output = read_some(ZlibDecoder::new(data), limit);
    match data.get(2..) {
        // Some files have a wrong header before intact data.
        Some(raw) if output.is_empty() => read_some(DeflateDecoder::new(raw), limit),
        _ => output,
    }
}

/// `grows_early` is true where codes become longer one code before they must, which is the default.
fn lzw(data: &[u8], grows_early: bool, limit: usize) -> Vec<u8> {
    let mut decoder = if grows_early {
        LzwDecoder::with_tiff_size_switch(BitOrder::Msb, 8)
    } else {
        LzwDecoder::new(BitOrder::Msb, 8)
    };
    let mut output = Vec::new();
    let mut buffer = vec![0; LZW_BUFFER];
    let mut rest = data;
    // A stream that unpacks to more than the limit is left one buffer after it.
    while output.len() <= limit {
        let progress = decoder.decode_bytes(rest, &mut buffer);
        output.extend_from_slice(buffer.get(..progress.consumed_out).unwrap_or_default());
        rest = rest.get(progress.consumed_in..).unwrap_or_default();
        if !matches!(progress.status, Ok(LzwStatus::Ok)) {
            break;
        }
    }
    output
}

fn ascii85(data: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let mut group = 0_u32;
    let mut digits = 0;
    for &byte in data.strip_suffix(b"~>").unwrap_or(data) {
        match byte {
            b'z' if digits == 0 => output.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.checked_mul(85)?.checked_add(u32::from(byte - b'!'))?;
                digits += 1;
            }
            b'z' => return None,
            _ if byte.is_ascii_whitespace() => {}
            _ => break,
        }
        if digits == 5 {
            output.extend(group.to_be_bytes());
            (group, digits) = (0, 0);
        }
        if output.len() > limit {
            break;
        }
    }
    if digits > 0 {
        for _ in digits..5 {
            group = group.checked_mul(85)?.checked_add(84)?;
        }
        output.extend(group.to_be_bytes().get(..digits - 1)?);
    }
    Some(output)
}

fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let end = data.iter().position(|&byte| byte == b'>').unwrap_or(data.len());
    let digits: Vec<u8> = data.iter().take(end).copied().filter_map(hex_digit).collect();
    hex_bytes(&digits)
}

/// The bytes of hexadecimal digits. A last digit without a partner is followed by a zero.
pub(super) fn hex_bytes(digits: &[u8]) -> Vec<u8> {
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => high << 4 | low,
            alone => alone.iter().fold(0, |_, high| high << 4),
        })
        .collect()
}

fn run_length(data: &[u8], limit: usize) -> Vec<u8> {
    let mut output = Vec::new();
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        if length == 128 || output.len() > limit {
            break;
        }
        if length < 128 {
            let count = (usize::from(length) + 1).min(after.len());
            let (literal, after) = after.split_at(count);
            output.extend_from_slice(literal);
            rest = after;
        } else {
            let Some((&byte, after)) = after.split_first() else {
                break;
            };
            output.resize(output.len() + 257 - usize::from(length), byte);
            rest = after;
        }
    }
    output
}

/// How the rows of a predictor are laid out, in bytes.
struct Rows {
    width: usize,
    /// The distance to the sample on the left.
    left: usize,
}

/// Undoes the predictor. The caller has checked the width of its rows.
fn unpredicted(data: Vec<u8>, parameters: &Dictionary) -> Result<Vec<u8>, FilterError> {
    let positive = |key: &[u8], default: usize| {
        let value = parameters.integer(key).and_then(|value| usize::try_from(value).ok());
        value.unwrap_or(default).max(1)
    };
    let bits = positive(b"BitsPerComponent", 8);
    let sample = positive(b"Colors", 1).saturating_mul(bits);
    let rows = Rows {
        width: positive(b"Columns", 1).saturating_mul(sample).div_ceil(8),
        left: sample.div_ceil(8),
    };
    match parameters.integer(b"Predictor") {
        Some(10..=15) => Ok(undo_png(&data, &rows)),
        Some(2) if bits == 8 => Ok(undo_tiff(data, &rows)),
        // Only images have samples of other sizes.
        Some(2) => Err(FilterError::Unreadable),
        _ => Ok(data),
    }
}

fn undo_tiff(mut data: Vec<u8>, rows: &Rows) -> Vec<u8> {
    for row in data.chunks_mut(rows.width) {
        for at in rows.left..row.len() {
            let left = row.get(at - rows.left).copied().unwrap_or(0);
            if let Some(byte) = row.get_mut(at) {
                *byte = byte.wrapping_add(left);
            }
        }
    }
    data
}

fn undo_png(data: &[u8], rows: &Rows) -> Vec<u8> {
    let mut output = Vec::with_capacity(data.len());
    let mut above = vec![0; rows.width];
    let mut row: Vec<u8> = Vec::with_capacity(rows.width);
    for packed in data.chunks(rows.width + 1) {
        let Some((&filter, differences)) = packed.split_first() else {
            break;
        };
        row.clear();
        for (at, (&difference, &up)) in differences.iter().zip(&above).enumerate() {
            let at_left = |line: &[u8]| {
                at.checked_sub(rows.left).and_then(|index| line.get(index).copied()).unwrap_or(0)
            };
            let left = at_left(&row);
            let prediction = match filter {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, at_left(&above)),
                _ => 0,
            };
            row.push(difference.wrapping_add(prediction));
        }
        output.extend_from_slice(&row);
        row.resize(rows.width, 0);
        std::mem::swap(&mut above, &mut row);
    }
    output
}

fn paeth(left: u8, up: u8, up_left: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(up) - i16::from(up_left);
    let distance = |value: u8| (estimate - i16::from(value)).abs();
    if distance(left) <= distance(up) && distance(left) <= distance(up_left) {
        left
    } else if distance(up) <= distance(up_left) {
        up
    } else {
        up_left
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::indexing_slicing, reason = "tests")]

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use weezl::encode::Encoder;

    use super::*;
    use crate::pdf::{lexer::PdfLexer, object::Object, test_pdf::deflate};

    const LIMIT: usize = 1000;

    fn parameters(text: &str) -> Dictionary {
        match PdfLexer::new(text.as_bytes(), 0).object() {
            Some(Object::Dictionary(parameters)) => parameters,
            _ => Dictionary::default(),
        }
    }

    fn unpacked(filter: &str, data: &[u8]) -> Result<Vec<u8>, FilterError> {
        apply(filter.as_bytes(), data, &Dictionary::default(), LIMIT)
    }

    #[test]
    fn unpacks_the_examples_of_the_standard_and_what_is_cut() {
        for (filter, data, expected) in [
            (
                "LZWDecode",
                b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01".as_slice(),
                b"-----A---B".as_slice(),
            ),
            ("LZWDecode", b"\x80\x0b\x60\x50\x22", b"-----"),
            ("ASCII85Decode", b"87cUR D]j\n7BEbo80z~>", b"Hello world!\0\0\0\0"),
            ("ASCII85Decode", b"87cURDZ", b"Hello"),
            ("ASCIIHexDecode", b"48 65\n6c6C6>ff", b"Hell`"),
            ("RunLengthDecode", b"\x02abc\xfdx\x80ignored", b"abcxxxx"),
            ("RunLengthDecode", b"\x09abc", b"abc"),
            ("RunLengthDecode", b"\xfd", b""),
        ] {
            assert_eq!(unpacked(filter, data).as_deref(), Ok(expected), "{filter}");
        }
        let packed = deflate(b"some text that is long enough to be cut");
        assert_eq!(unpacked("FlateDecode", &packed[2..]), Ok(Vec::new()));
        let mut wrong_header = packed.clone();
        wrong_header[0] = 0;
        let text = unpacked("FlateDecode", &packed);
        assert_eq!(unpacked("FlateDecode", &wrong_header), text);
        assert_eq!(unpacked("FlateDecode", &packed[..packed.len() - 4]), text);
    }

    #[test]
    fn refuses_filters_of_images_and_wrong_digits() {
        for (filter, data) in
            [("DCTDecode", b"".as_slice()), ("ASCII85Decode", b"uuuuu"), ("ASCII85Decode", b"az")]
        {
            assert_eq!(unpacked(filter, data), Err(FilterError::Unreadable), "{filter}");
        }
    }

    #[test]
    fn stops_at_the_limit() {
        let zeros = vec![0; LIMIT + 1];
        assert_eq!(unpacked("FlateDecode", &deflate(&zeros[1..])), Ok(zeros[1..].to_vec()));
        for (filter, data) in [
            ("FlateDecode", deflate(&zeros)),
            ("ASCII85Decode", vec![b'z'; LIMIT]),
            ("ASCIIHexDecode", vec![b'0'; 2 * LIMIT + 1]),
            ("RunLengthDecode", vec![129; LIMIT]),
        ] {
            assert_eq!(unpacked(filter, &data), Err(FilterError::TooLarge), "{filter}");
        }
    }

    #[test]
    fn undoes_every_predictor() {
        let png = [0, 1, 2, 3, 4, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 1, 1, 4, 1, 1, 1, 1, 2, 9];
        let rows: [&[u8]; 6] =
            [&[1, 2, 3, 4], &[1, 1, 2, 2], &[2, 2, 3, 3], &[2, 2, 3, 3], &[3, 3, 4, 4], &[12]];
        let colors = parameters("<< /Predictor 15 /Colors 2 /Columns 2 >>");
        assert_eq!(unpredicted(png.to_vec(), &colors), Ok(rows.concat()));
        let tiff = parameters("<< /Predictor 2 /Columns 3 >>");
        assert_eq!(unpredicted(vec![1, 1, 1, 5, 255, 1, 7], &tiff), Ok(vec![1, 2, 3, 5, 4, 5, 7]));
        let bits = parameters("<< /Predictor 2 /BitsPerComponent 4 >>");
        assert_eq!(unpredicted(vec![1], &bits), Err(FilterError::Unreadable));
    }

    #[test]
    fn unpacks_lzw_whenever_its_codes_grow() {
        // Enough different pairs to fill the table more than once.
        let data: Vec<u8> = (0..40_000_u32).map(|at| (at * at / 7).to_le_bytes()[0]).collect();
        let early = Encoder::with_tiff_size_switch(BitOrder::Msb, 8).encode(&data);
        assert_eq!(early.map(|packed| lzw(&packed, true, data.len())).ok(), Some(data.clone()));
        let late = Encoder::new(BitOrder::Msb, 8).encode(&data);
        assert_eq!(late.map(|packed| lzw(&packed, false, data.len())).ok(), Some(data));
    }

    proptest! {
        #[test]
        fn unpacks_like_another_reader(data: Vec<u8>, columns in 1..9_i64, colors in 1..4_i64) {
            let other = |filter: &str, data: &[u8], predictor: i64| {
                let parameters = lopdf::dictionary! { "Predictor" => predictor, "Columns" => columns, "Colors" => colors };
                let dictionary = lopdf::dictionary! { "Filter" => filter, "DecodeParms" => parameters };
                lopdf::Stream::new(dictionary, data.to_vec()).decompressed_content_with_limit(LIMIT).ok()
            };
            let own = |filter: &str, data: &[u8], predictor: i64| {
                let text = format!("<< /Predictor {predictor} /Columns {columns} /Colors {colors} >>");
                apply(filter.as_bytes(), data, &parameters(&text), LIMIT).ok()
            };
            for filter in ["RunLengthDecode", "ASCII85Decode"] {
                prop_assert_eq!(own(filter, &data, 1), other(filter, &data, 1), "{}", filter);
            }
            let packed = deflate(&data);
            for predictor in [1, 2] {
                prop_assert_eq!(own("FlateDecode", &packed, predictor), other("FlateDecode", &packed, predictor));
            }
            // The other reader refuses truncated rows and unknown row filters.
            let width = usize::try_from(columns * colors).unwrap_or(1) + 1;
            let mut rows = data;
            rows.truncate(rows.len() / width * width);
            for row in rows.chunks_mut(width) {
                row[0] %= 5;
            }
            let packed = deflate(&rows);
            prop_assert_eq!(own("FlateDecode", &packed, 12), other("FlateDecode", &packed, 12));
        }
    }
}
