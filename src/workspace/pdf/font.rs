//! What turns the bytes a page shows into characters, and how far they move the pen.

use super::encoding::{SIMPLE_CODES, simple_encoding};
use super::lexer::find;
use super::object::{Dictionary, Object};
use super::reader::Reader;
use super::to_unicode::{ToUnicode, big_endian};
use super::{MAX_PAGE_TEXT, PdfError};

pub(super) struct Font {
    /// Composite fonts have two-byte codes unless their map says otherwise.
    composite: bool,
    utf16: bool,
    /// What each byte means in a simple font.
    simple: Vec<Option<char>>,
    to_unicode: ToUnicode,
    /// Sorted ranges of codes with their width in thousandths; empty if unknown.
    widths: Vec<(u32, u32, f64)>,
    default_width: f64,
}

impl Font {
    pub(super) fn load(reader: &mut Reader<'_>, font: &Dictionary) -> Result<Self, PdfError> {
        let composite = font.name(b"Subtype") == Some(b"Type0");
        let encoding = reader.get(font, b"Encoding")?;
        let utf16 = matches!(&encoding, Some(Object::Name(name))
            if find(name, b"UCS2", 0).is_some() || find(name, b"UTF16", 0).is_some());
        let to_unicode = match reader.get(font, b"ToUnicode")? {
            Some(Object::Stream(stream)) => {
                let data = reader.unpack(stream)?;
                ToUnicode::parse(&mut reader.budget, &data)?
            }
            _ => ToUnicode::default(),
        };
        let mut loaded = Self {
            composite,
            utf16,
            simple: Vec::new(),
            to_unicode,
            widths: Vec::new(),
            default_width: if composite { 1000.0 } else { 500.0 },
        };
        if composite {
            loaded.read_composite_widths(reader, font)?;
        } else {
            loaded.simple = simple_encoding(reader, encoding)?;
            let first = font.integer(b"FirstChar").unwrap_or(0);
            let codes = u32::try_from(first).unwrap_or(0)..=u32::MAX;
            if let Some(Object::Array(widths)) = reader.get(font, b"Widths")? {
                let widths = codes.zip(widths.iter().take(SIMPLE_CODES));
                loaded.widths =
                    widths.map(|(code, width)| (code, code, width.as_number())).collect();
            }
        }
        Ok(loaded)
    }

    fn read_composite_widths(
        &mut self,
        reader: &mut Reader<'_>,
        font: &Dictionary,
    ) -> Result<(), PdfError> {
        let Some(Object::Array(descendants)) = reader.get(font, b"DescendantFonts")? else {
            return Ok(());
        };
        let Some(first) = descendants.first() else {
            return Ok(());
        };
        let Some(Object::Dictionary(descendant)) = reader.resolve(first)? else {
            return Ok(());
        };
        if let Some(width) = descendant.get(b"DW") {
            self.default_width = width.as_number();
        }
        let Some(Object::Array(table)) = reader.get(&descendant, b"W")? else {
            return Ok(());
        };
        let mut items = table.into_iter();
        while let (Some(low), Some(second)) = (items.next(), items.next()) {
            let low = low.as_integer().and_then(|code| u32::try_from(code).ok()).unwrap_or(0);
            let ranges = match reader.resolve(&second)? {
                Some(Object::Array(widths)) => (low..=u32::MAX)
                    .zip(&widths)
                    .map(|(code, width)| (code, code, width.as_number()))
                    .collect(),
                Some(Object::Integer(high)) => {
                    let width = items.next().map_or(0.0, |width| width.as_number());
                    vec![(low, u32::try_from(high).unwrap_or(low), width)]
                }
                _ => Vec::new(),
            };
            if !reader.budget.take_font_entries(ranges.len()) {
                break;
            }
            self.widths.extend(ranges);
        }
        self.widths.sort_by_key(|range| range.0);
        Ok(())
    }

    /// Appends the characters of `bytes`; returns how many codes have none.
    pub(super) fn decode(&self, bytes: &[u8], text: &mut String) -> usize {
        let mut undecoded = 0;
        let mut rest = bytes;
        while !rest.is_empty() && text.len() <= MAX_PAGE_TEXT {
            if let Some((units, after)) = self.to_unicode.first(rest) {
                text.extend(
                    char::decode_utf16(units)
                        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
                rest = after;
                continue;
            }
            let (code, after) = rest.split_at(rest.len().min(if self.composite { 2 } else { 1 }));
            rest = after;
            if self.utf16 {
                text.extend(char::from_u32(big_endian(code)));
            } else if let Some(known) =
                code.first().and_then(|&byte| self.simple.get(usize::from(byte)))
            {
                text.extend(known);
            } else {
                undecoded += 1;
            }
        }
        undecoded
    }

    /// Whether [`Font::width`] is more than a guess.
    pub(super) fn is_measured(&self) -> bool {
        !self.widths.is_empty()
    }

    /// The width of `bytes` in units of the font size.
    pub(super) fn width(&self, bytes: &[u8]) -> f64 {
        let codes = bytes.chunks(if self.composite { 2 } else { 1 }).map(big_endian);
        codes
            .map(|code| {
                let after = self.widths.partition_point(|range| range.0 <= code);
                let range = after.checked_sub(1).and_then(|index| self.widths.get(index));
                range.filter(|range| code <= range.1).map_or(self.default_width, |range| range.2)
                    / 1000.0
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::workspace::pdf::PdfPage;
    use crate::workspace::pdf::test_pdf::{deflate, document_with_font, read_all, stream, text_of};

    #[test]
    fn decodes_text_by_the_maps_of_its_font() {
        let map = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n\
            2 beginbfchar <0001> <00e9> <0002> <d83dde00> endbfchar\n\
            2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0078> <00660069>] endbfrange endcmap end";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>";
        let content = stream("", b"BT /F1 9 Tf <00010002001000120021> Tj ET");
        let bytes =
            document_with_font(font, &[content], &[stream("/Filter /FlateDecode", &deflate(map))]);
        assert_eq!(text_of(&bytes), "\u{e9}\u{1f600}ACfi");

        let font = "<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /WinAnsiEncoding \
            /Differences [65 /alpha /uni20AC /nonsense] >> >>";
        let content = stream("", b"BT /F1 9 Tf (ABCD\\200) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[])), "\u{3b1}\u{20ac}D\u{20ac}");
    }

    #[test]
    fn notes_text_whose_encoding_is_unknown() {
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H >>";
        let read = read_all(&document_with_font(
            font,
            &[stream("", b"BT /F1 9 Tf <00010002> Tj ET")],
            &[],
        ))
        .unwrap();
        let note = "2 characters are in a font without a readable encoding".to_owned();
        assert_eq!(read.pages, vec![PdfPage { number: 1, text: String::new(), note: Some(note) }]);
    }
}
