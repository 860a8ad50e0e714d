//! Fonts: which characters the bytes of a shown string are, and how far each moves the pen.

use super::PdfError;
use super::code_map::{CodeMap, MAX_CODE_BYTES, big_endian};
use super::encoding::{BuiltIn, CodeMeaning, SIMPLE_CODES, SimpleEncoding, own_widths};
use super::font_program::names_by_code;
use super::object::{Dictionary, Object};
use super::object_reader::ObjectReader;
use super::predefined_codes::PredefinedCodes;
use super::standard_fonts::StandardFont;

/// Widths are given in thousandths of the font size.
const UNITS_PER_EM: f64 = 1000.0;

pub(super) struct Font {
    codes: Codes,
    to_unicode: CodeMap,
    /// Sorted ranges of codes with their width in units of the font size. Empty if widths are unknown.
    widths: Vec<(u32, u32, f64)>,
    default_width: f64,
    /// Whether the font is for vertical writing, where the pen moves down the page.
    pub(super) is_vertical: bool,
}

/// How a string is split into codes, and the meaning of codes that are not in the font's map to text.
enum Codes {
    /// Each byte is a code.
    Simple(SimpleEncoding),
    /// Codes are characters of a named encoding.
    Predefined(PredefinedCodes),
    /// Codes are glyph numbers of the length that the map gives, or of two bytes if it gives none.
    Glyphs(CodeMap),
}

/// One code of a shown string.
pub(super) struct ShownCode {
    /// How far it moves the pen, in units of the font size.
    pub(super) width: f64,
    /// Whether it is the single byte to which word spacing applies.
    pub(super) is_word_space: bool,
    /// Whether a glyph is drawn whose text is unknown.
    pub(super) is_undecoded: bool,
}

impl Font {
    pub(super) fn load(reader: &mut ObjectReader<'_>, font: &Dictionary) -> Result<Self, PdfError> {
        let encoding = reader.get(font, b"Encoding")?;
        let to_unicode = match reader.get(font, b"ToUnicode")? {
            Some(Object::Stream(stream)) => {
                let data = reader.unpack(stream)?;
                CodeMap::parse(&mut reader.budget, &data)?
            }
            Some(Object::Name(name)) if name.starts_with(b"Identity") => CodeMap::identity(),
            _ => CodeMap::default(),
        };
        match font.name(b"Subtype") {
            Some(b"Type0") => Self::composite(reader, font, encoding, to_unicode),
            subtype => Self::simple(reader, font, subtype, encoding, to_unicode),
        }
    }

    fn simple(
        reader: &mut ObjectReader<'_>,
        font: &Dictionary,
        subtype: Option<&[u8]>,
        encoding: Option<Object>,
        to_unicode: CodeMap,
    ) -> Result<Self, PdfError> {
        let standard = font.name(b"BaseFont").and_then(StandardFont::named);
        let descriptor = reader.get_dictionary(font, b"FontDescriptor")?.unwrap_or_default();
        let names = match reader.get(&descriptor, b"FontFile")? {
            Some(Object::Stream(program)) => {
                let data = reader.unpack(program)?;
                reader.budget.charge(data.len())?;
                names_by_code(&data)
            }
            _ => Vec::new(),
        };
        let built_in = match standard {
            _ if subtype == Some(b"Type3") => BuiltIn::OfItsOwn,
            _ if !names.is_empty() => BuiltIn::Names(&names),
            Some(StandardFont::Symbol) => BuiltIn::Symbol,
            Some(StandardFont::Dingbats) => BuiltIn::Dingbats,
            _ => BuiltIn::Standard,
        };
        let encoding = SimpleEncoding::load(reader, encoding, built_in)?;
        // A Type 3 font defines the scale of its glyphs.
        let scale = match reader.get(font, b"FontMatrix")? {
            Some(Object::Array(matrix)) if subtype == Some(b"Type3") => {
                matrix.first().map_or(0.0, Object::as_number)
            }
            _ => 1.0 / UNITS_PER_EM,
        };
        let first = font.integer(b"FirstChar").and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
        let mut widths = Vec::new();
        if let Some(Object::Array(given)) = reader.get(font, b"Widths")? {
            for (code, width) in (first..=u32::MAX).zip(given.iter().take(SIMPLE_CODES)) {
                let width = reader.resolve(width)?.map_or(0.0, |width| width.as_number());
                widths.push((code, code, width * scale));
            }
        } else if let Some(standard) = standard {
            widths = standard_widths(standard, built_in, &encoding);
        }
        let default_width = match descriptor.get(b"MissingWidth") {
            Some(width) => width.as_number() / UNITS_PER_EM,
            None => 0.5,
        };
        let codes = Codes::Simple(encoding);
        Ok(Self { codes, to_unicode, widths, default_width, is_vertical: false })
    }

    fn composite(
        reader: &mut ObjectReader<'_>,
        font: &Dictionary,
        encoding: Option<Object>,
        to_unicode: CodeMap,
    ) -> Result<Self, PdfError> {
        let (codes, is_vertical) = match encoding {
            Some(Object::Name(name)) => {
                let codes = PredefinedCodes::named(&name)
                    .map_or_else(|| Codes::Glyphs(CodeMap::default()), Codes::Predefined);
                (codes, name.ends_with(b"-V") || name == b"V")
            }
            Some(Object::Stream(stream)) => {
                let is_vertical = stream.dictionary.integer(b"WMode") == Some(1);
                let data = reader.unpack(stream)?;
                (Codes::Glyphs(CodeMap::parse(&mut reader.budget, &data)?), is_vertical)
            }
            _ => (Codes::Glyphs(CodeMap::default()), false),
        };
        let mut loaded =
            Self { codes, to_unicode, widths: Vec::new(), default_width: 1.0, is_vertical };
        loaded.read_composite_widths(reader, font)?;
        Ok(loaded)
    }

    fn read_composite_widths(
        &mut self,
        reader: &mut ObjectReader<'_>,
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
            self.default_width = width.as_number() / UNITS_PER_EM;
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
                    .map(|(code, width)| (code, code, width.as_number() / UNITS_PER_EM))
                    .collect(),
                Some(Object::Integer(high)) => {
                    let width = items.next().map_or(0.0, |width| width.as_number());
                    vec![(low, u32::try_from(high).unwrap_or(low), width / UNITS_PER_EM)]
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

    /// Takes one code from the front of `bytes` and appends its text. `None` at the end of the string.
    pub(super) fn take_code(&self, bytes: &mut &[u8], text: &mut String) -> Option<ShownCode> {
        if bytes.is_empty() {
            return None;
        }
        let (length, mapped) = self.mapped(bytes);
        let (code, rest) = bytes.split_at(length.clamp(1, bytes.len()));
        *bytes = rest;
        let is_undecoded = match mapped {
            Some(units) => {
                let decoded = char::decode_utf16(units);
                text.extend(decoded.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
                false
            }
            None => !self.decode(code, text),
        };
        Some(ShownCode { width: self.width(code), is_word_space: code == b" ", is_undecoded })
    }

    /// The length of the first code, and its text by the font's map. If the map has no code of the
    /// length that the font gives, the shortest code that it has is taken.
    fn mapped(&self, bytes: &[u8]) -> (usize, Option<Vec<u16>>) {
        let declared = match &self.codes {
            Codes::Simple(_) => 1,
            Codes::Predefined(codes) => codes.code_length(bytes),
            Codes::Glyphs(map) => map.code_length(bytes).unwrap_or(2),
        };
        let target = |length: usize| Some((length, self.to_unicode.target(bytes.get(..length)?)?));
        let others = (1..=MAX_CODE_BYTES).filter(|&length| length != declared);
        let found = match &self.codes {
            Codes::Simple(_) => target(1).or_else(|| {
                // Some maps of simple fonts have codes of two bytes.
                let code = [0, *bytes.first()?];
                Some((1, self.to_unicode.target(&code)?))
            }),
            Codes::Predefined(_) => target(declared),
            Codes::Glyphs(_) => target(declared).or_else(|| others.into_iter().find_map(target)),
        };
        found.map_or((declared, None), |(length, text)| (length, Some(text)))
    }

    /// Appends the text of a code that is not in the font's map. Returns whether the text is known.
    fn decode(&self, code: &[u8], text: &mut String) -> bool {
        match &self.codes {
            Codes::Simple(encoding) => match encoding.meaning(code.first().copied().unwrap_or(0)) {
                CodeMeaning::Text(character) => text.push(*character),
                CodeMeaning::Texts(characters) => text.push_str(characters),
                CodeMeaning::Unknown => return false,
                CodeMeaning::Nothing => {}
            },
            Codes::Predefined(codes) => return codes.decode(code, text),
            Codes::Glyphs(_) => return false,
        }
        true
    }

    /// Whether the widths are those of the font and not a guess.
    pub(super) fn is_measured(&self) -> bool {
        !self.widths.is_empty()
    }

    /// The width of a code in units of the font size.
    fn width(&self, code: &[u8]) -> f64 {
        let number = match &self.codes {
            Codes::Simple(_) => big_endian(code),
            // The file gives widths by glyph, and the glyph of a code is unknown here.
            Codes::Predefined(_) => return if code.len() == 1 { 0.5 } else { self.default_width },
            Codes::Glyphs(map) => {
                let glyph = map.target(code).and_then(|units| units.first().copied());
                glyph.map_or_else(|| big_endian(code), u32::from)
            }
        };
        let after = self.widths.partition_point(|range| range.0 <= number);
        let range = after.checked_sub(1).and_then(|index| self.widths.get(index));
        range.filter(|range| number <= range.1).map_or(self.default_width, |range| range.2)
    }
}

/// The widths of a standard font, by code.
fn standard_widths(
    standard: StandardFont,
    built_in: BuiltIn<'_>,
    encoding: &SimpleEncoding,
) -> Vec<(u32, u32, f64)> {
    let own = own_widths(built_in).into_iter();
    let own: Vec<_> = own
        .filter_map(|(code, width)| {
            let code = u32::try_from(code).ok()?;
            Some((code, code, width / UNITS_PER_EM))
        })
        .collect();
    if !own.is_empty() {
        return own;
    }
    let of_code = |code: u8| {
        let width = match encoding.meaning(code) {
            CodeMeaning::Text(character) => standard.width(*character)?,
            _ => return None,
        };
        Some((u32::from(code), u32::from(code), width / UNITS_PER_EM))
    };
    (0..=u8::MAX).filter_map(of_code).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::pdf::{
        PdfPage,
        test_pdf::{deflate, document_with_font, read_all, stream, text_of},
    };

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
            /Differences [65 /alpha /uni20AC /.notdef] >> >>";
        let content = stream("", b"BT /F1 9 Tf (ABCD\\200) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[])), "\u{3b1}\u{20ac}D\u{20ac}");
    }

    #[test]
    fn takes_codes_as_long_as_the_font_says_they_are() {
        let codes = b"2 begincodespacerange <00> <7f> <8000> <ffff> endcodespacerange \
            1 begincidrange <00> <7f> 0 endcidrange";
        let text =
            b"1 beginbfrange <41> <5a> <0041> endbfrange 1 beginbfchar <8001> <4e2d> endbfchar";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding 6 0 R /ToUnicode 7 0 R >>";
        let content = stream("", b"BT /F1 9 Tf <41428001 43> Tj ET");
        let more = [stream("", codes), stream("", text)];
        assert_eq!(text_of(&document_with_font(font, &[content], &more)), "AB\u{4e2d}C");

        let wide = b"1 beginbfchar <0041> <03b1> endbfchar";
        let font = "<< /Type /Font /Subtype /TrueType /ToUnicode 6 0 R >>";
        let content = stream("", b"BT /F1 9 Tf (AB) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[stream("", wide)])), "\u{3b1}B");
    }

    #[test]
    fn counts_characters_whose_encoding_is_unknown() {
        for (font, shown, count) in [
            ("/Subtype /Type0 /Encoding /Identity-H", "<00010002>", "2 characters are"),
            ("/Subtype /Type0 /Encoding /90ms-RKSJ-H", "<81ad>", "1 character is"),
            (
                "/Subtype /Type1 /Encoding << /Differences [65 /nonsense] >>",
                "(A)",
                "1 character is",
            ),
            (
                "/Subtype /Type3 /Encoding << /Differences [1 /g1 /g2] >>",
                "<0102>",
                "2 characters are",
            ),
            ("/Subtype /Type3", "(abc)", "3 characters are"),
        ] {
            let font = format!("<< /Type /Font {font} >>");
            let content = stream("", format!("BT /F1 9 Tf {shown} Tj ET").as_bytes());
            let read = read_all(&document_with_font(&font, &[content], &[])).unwrap();
            let note = Some(format!("{count} in a font without a readable encoding"));
            assert_eq!(read.pages, [PdfPage { number: 1, text: String::new(), note }], "{font}");
        }
    }

    #[test]
    fn knows_the_widths_and_codes_of_the_fonts_that_every_reader_has() {
        // Each string is placed at the end of the one before, so that both are one word.
        for (name, shown) in [
            ("Helvetica", "(wid) Tj 15 0 Td (th) Tj"),
            ("ABCDEF+Arial-BoldMT", "(wid) Tj 16.67 0 Td (th) Tj"),
            ("TimesNewRoman,Italic", "(wid) Tj 14.45 0 Td (th) Tj"),
            ("Courier", "(wid) Tj 18 0 Td (th) Tj"),
        ] {
            let font = format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>");
            let content = stream("", format!("BT /F1 10 Tf {shown} ET").as_bytes());
            assert_eq!(text_of(&document_with_font(&font, &[content], &[])), "width", "{name}");
        }
        let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>";
        let content = stream("", b"BT /F1 10 Tf (abg) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[])), "αβγ");
    }

    #[test]
    fn takes_the_codes_of_an_embedded_program() {
        let program = b"%!PS-AdobeFont-1.0: CMR10\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
            dup 12 /fi put\ndup 8#101 /A put\nreadonly def\ncurrentfile eexec\ndup 66 /B put";
        let font =
            "<< /Type /Font /Subtype /Type1 /FontDescriptor << /Flags 4 /FontFile 6 0 R >> >>";
        let content = stream("", b"BT /F1 10 Tf (A\\014B) Tj ET");
        let bytes = document_with_font(font, &[content], &[stream("", program)]);
        assert_eq!(text_of(&bytes), "Afi");
    }

    #[test]
    fn measures_type_3_glyphs_by_the_matrix_of_their_font() {
        let font = "<< /Type /Font /Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 65 \
            /Widths [50 50] /Encoding << /Differences [65 /A /B] >> >>";
        let content = stream("", b"BT /F1 10 Tf (A) Tj 5 0 Td (B) Tj 15 0 Td (A) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[])), "AB A");
    }
}
