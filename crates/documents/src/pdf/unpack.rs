//! Unpacks streams by applying their filters, after checking that the parameters stay within limits.

use super::PdfError;
use super::filters::{self, FilterError};
use super::object::{Dictionary, Object, PdfStream};
use super::object_reader::ObjectReader;

/// The most bytes that one filter of a stream may return, and that the streams of one page may have
/// together.
pub(super) const MAX_UNPACKED: usize = 12 * 1024 * 1024;
const MAX_FILTERS: usize = 4;
const MAX_PREDICTOR_BITS: i64 = 8 * 1024 * 1024;

impl ObjectReader<'_> {
    /// The data of a stream. Empty if it is damaged.
    pub(super) fn unpack(&mut self, stream: PdfStream) -> Result<Vec<u8>, PdfError> {
        let filters = self.list(&stream.dictionary, b"Filter")?;
        let parameters = self.list(&stream.dictionary, b"DecodeParms")?;
        let too_large = PdfError::TooComplex("a stream unpacks to more than 12 MiB");
        let mut data = stream.content;
        if data.len() > MAX_UNPACKED {
            return Err(too_large);
        }
        if filters.is_empty() {
            self.budget.charge(data.len())?;
        }
        let mut parameters = parameters.into_iter();
        for filter in filters {
            let parameters = match parameters.next() {
                Some(Object::Dictionary(parameters)) => parameters,
                _ => Dictionary::default(),
            };
            check_row_width(&parameters)?;
            let Object::Name(filter) = filter else {
                return Ok(Vec::new());
            };
            let unpacked = filters::apply(&filter, &data, &parameters, MAX_UNPACKED);
            // Unpacking was stopped at the limit, so that much work has been done.
            self.budget.charge(unpacked.as_ref().map_or(MAX_UNPACKED, Vec::len))?;
            data = match unpacked {
                Ok(unpacked) => unpacked,
                Err(FilterError::TooLarge) => return Err(too_large),
                Err(FilterError::Unreadable) => return Ok(Vec::new()),
            };
        }
        Ok(data)
    }

    /// An entry that may be written as a single value or as an array.
    fn list(&mut self, dictionary: &Dictionary, key: &[u8]) -> Result<Vec<Object>, PdfError> {
        let items = match self.get(dictionary, key)? {
            Some(Object::Array(items)) => items,
            single => return Ok(single.into_iter().collect()),
        };
        if items.len() > MAX_FILTERS {
            return Err(PdfError::TooComplex("a stream is packed more than four times"));
        }
        items.iter().map(|item| Ok(self.resolve(item)?.unwrap_or(Object::Null))).collect()
    }
}

/// Refuses rows that are too wide: a predictor holds two rows in memory, whatever their width.
fn check_row_width(parameters: &Dictionary) -> Result<(), PdfError> {
    let bits = [(b"Columns".as_slice(), 1), (b"Colors", 1), (b"BitsPerComponent", 8)]
        .into_iter()
        .map(|(key, default)| parameters.integer(key).unwrap_or(default).max(1))
        .try_fold(1_i64, i64::checked_mul);
    if bits.is_none_or(|bits| bits > MAX_PREDICTOR_BITS) {
        return Err(PdfError::TooComplex("a stream asks for rows that are too wide"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{
        FONT, deflate, document, document_with_font, refusal, stream, text_of,
    };

    #[test]
    fn reads_compressed_content_and_chains_of_filters() {
        let plain = b"BT /F1 12 Tf (packed) Tj ET";
        let digits = deflate(plain).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
        let hex = digits.concat();
        let single = stream("/Filter /FlateDecode", &deflate(plain));
        let chain = stream("/Filter [/ASCIIHexDecode /FlateDecode]", hex.as_bytes());
        assert_eq!(text_of(&document(&[single, chain])), "packed|packed");
    }

    #[test]
    fn refuses_streams_that_unpack_to_too_much() {
        let zeros = vec![0; 64 * 1024 * 1024];
        let once = deflate(&zeros);
        let single = stream("/Filter /FlateDecode", &once);
        assert_eq!(refusal(&document(&[single])), "a stream unpacks to more than 12 MiB");
        let double = stream("/Filter [/FlateDecode /FlateDecode]", &deflate(&once));
        assert_eq!(refusal(&document(&[double])), "a stream unpacks to more than 12 MiB");
        let many = stream(&format!("/Filter [{}]", "/FlateDecode ".repeat(500)), &once);
        assert_eq!(refusal(&document(&[many])), "a stream is packed more than four times");
        let container = stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &once);
        let bytes = document_with_font(FONT, &[stream("", b"")], &[container]);
        assert_eq!(refusal(&bytes), "a stream unpacks to more than 12 MiB");
    }

    #[test]
    fn refuses_an_lzw_stream_that_unpacks_to_too_much() {
        // After a clear code, each code is the entry that is just being added: runs grow by one.
        let mut bits = Vec::new();
        for _ in 0..12 {
            let mut width = 9;
            let codes = std::iter::once(256).chain(std::iter::once(65)).chain(258..4094_u16);
            for code in codes {
                bits.extend((0..width).rev().map(|bit| code >> bit & 1 == 1));
                width = match code {
                    510..1022 => 10,
                    1022..2046 => 11,
                    2046..4096 => 12,
                    _ => 9,
                };
            }
        }
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|byte| {
                byte.iter()
                    .enumerate()
                    .fold(0, |all, (index, &bit)| all | u8::from(bit) << (7 - index))
            })
            .collect();
        assert_eq!(
            refusal(&document(&[stream("/Filter /LZWDecode", &bytes)])),
            "a stream unpacks to more than 12 MiB"
        );
    }

    #[test]
    fn refuses_a_predictor_with_endless_rows() {
        let parameters =
            "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 30000000000 >>";
        let bytes = document(&[stream(parameters, &deflate(b"x"))]);
        assert_eq!(refusal(&bytes), "a stream asks for rows that are too wide");
    }
}
