//! A font's map from codes to text (`/ToUnicode`) or to glyph numbers.
//!
//! It is kept as ranges, as it is in the file: a single range may span every possible code, so
//! expanding it would let a tiny file take gigabytes.

use super::PdfError;
use super::budget::Budget;
use super::lexer::{PdfLexer, PdfToken};
use super::object::Object;

/// The length of the longest code that the format allows.
pub(super) const MAX_CODE_BYTES: usize = 4;
/// A code that maps to more text than this is ignored.
const MAX_TARGET_BYTES: usize = 64;
/// Where ranges overlap, how many that begin before a code are tried.
const MAX_OVERLAPS: usize = 8;

#[derive(Default)]
pub(super) struct CodeMap {
    /// Sorted by code length and first code.
    mappings: Vec<Mapping>,
    /// The ranges of valid codes: their length in bytes, the lowest and the highest code.
    spaces: Vec<(usize, u32, u32)>,
}

struct Mapping {
    length: usize,
    low: u32,
    high: u32,
    /// Text in UTF-16, or a glyph number as a single unit.
    target: Box<[u16]>,
}

impl CodeMap {
    /// The map that maps each code of one or two bytes to itself.
    pub(super) fn identity() -> Self {
        let whole = |length, high| Mapping { length, low: 0, high, target: Box::new([0]) };
        Self { mappings: vec![whole(1, 0xff), whole(2, 0xffff)], spaces: Vec::new() }
    }

    pub(super) fn parse(budget: &mut Budget<'_>, data: &[u8]) -> Result<Self, PdfError> {
        budget.charge_parsing(data.len())?;
        let mut map = Self::default();
        let mut lexer = PdfLexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token(0) {
            let keyword = match token {
                PdfToken::Value(value) => {
                    operands.push(value);
                    continue;
                }
                PdfToken::Keyword(keyword) => keyword,
            };
            match keyword {
                // Maps to text and to glyph numbers have the same form, and some writers use the
                // operators for glyphs in maps to text.
                b"endbfchar" | b"endcidchar" => {
                    for pair in operands.chunks_exact(2) {
                        if let [Object::String(code), target] = pair {
                            map.add(budget, code, code, target);
                        }
                    }
                }
                b"endbfrange" | b"endcidrange" => {
                    for range in operands.chunks_exact(3) {
                        map.add_range(budget, range);
                    }
                }
                b"endcodespacerange" => {
                    for pair in operands.chunks_exact(2) {
                        if let [Object::String(low), Object::String(high)] = pair
                            && (1..=MAX_CODE_BYTES).contains(&low.len())
                            && budget.take_font_entries(1)
                        {
                            map.spaces.push((low.len(), big_endian(low), big_endian(high)));
                        }
                    }
                }
                _ => {}
            }
            operands.clear();
        }
        map.mappings.sort_by_key(|mapping| (mapping.length, mapping.low));
        map.spaces.sort_unstable();
        Ok(map)
    }

    fn add_range(&mut self, budget: &mut Budget<'_>, range: &[Object]) {
        match range {
            [Object::String(low), _, Object::Array(targets)] => {
                let unused = 4 - low.len().min(MAX_CODE_BYTES);
                for (code, target) in (big_endian(low)..=u32::MAX).zip(targets) {
                    let code = code.to_be_bytes();
                    let code = code.get(unused..).unwrap_or_default();
                    self.add(budget, code, code, target);
                }
            }
            [Object::String(low), Object::String(high), target] => {
                self.add(budget, low, high, target);
            }
            _ => {}
        }
    }

    fn add(&mut self, budget: &mut Budget<'_>, low: &[u8], high: &[u8], target: &Object) {
        let target: Box<[u16]> = match target {
            Object::String(text) if text.len() <= MAX_TARGET_BYTES => text
                .chunks(2)
                .map(|unit| unit.iter().fold(0, |code, &byte| code << 8 | u16::from(byte)))
                .collect(),
            Object::Integer(number) => match u16::try_from(*number) {
                Ok(number) => Box::new([number]),
                Err(_) => return,
            },
            _ => return,
        };
        if !(1..=MAX_CODE_BYTES).contains(&low.len()) || !budget.take_font_entries(1) {
            return;
        }
        let (length, low, high) = (low.len(), big_endian(low), big_endian(high));
        self.mappings.push(Mapping { length, low, high, target });
    }

    /// The length of the code that `bytes` begins with, if it is in the map's ranges of valid codes.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        let fits = |&(length, low, high): &(usize, u32, u32)| {
            bytes.get(..length).is_some_and(|code| (low..=high).contains(&big_endian(code)))
        };
        self.spaces.iter().copied().find(fits).map(|(length, ..)| length)
    }

    /// The text or glyph number that a code maps to.
    pub(super) fn target(&self, code: &[u8]) -> Option<Vec<u16>> {
        let (length, code) = (code.len(), big_endian(code));
        let after = self
            .mappings
            .partition_point(|mapping| (mapping.length, mapping.low) <= (length, code));
        let before = self.mappings.get(..after)?.iter().rev().take(MAX_OVERLAPS);
        let mapping = before
            .take_while(|mapping| mapping.length == length)
            .find(|mapping| code <= mapping.high)?;
        let mut target = mapping.target.to_vec();
        let step = u16::try_from(code - mapping.low).unwrap_or(0);
        if let Some(last) = target.last_mut() {
            *last = last.wrapping_add(step);
        }
        Some(target)
    }
}

pub(super) fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{document_with_font, stream, text_of};

    fn shown_with(to_unicode: &str, map: &[u8], shown: &str) -> String {
        let font = format!(
            "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode {to_unicode} >>"
        );
        let content = stream("", format!("BT /F1 9 Tf <{shown}> Tj ET").as_bytes());
        text_of(&document_with_font(&font, &[content], &[stream("", map)]))
    }

    #[test]
    fn reads_a_character_map_over_every_code_at_no_cost() {
        let map = b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange";
        assert_eq!(shown_with("6 0 R", map, "00000002"), "C");
    }

    #[test]
    fn reads_a_map_that_is_a_name_and_maps_with_the_operators_for_glyphs() {
        assert_eq!(shown_with("/Identity-H", b"", "004800e9"), "H\u{e9}");
        let map =
            b"1 begincidrange <0001> <0003> 65 endcidrange 1 begincidchar <0009> 122 endcidchar";
        assert_eq!(shown_with("6 0 R", map, "000100030009"), "ACz");
    }

    #[test]
    fn finds_a_code_in_the_wide_range_around_a_narrow_one() {
        let map =
            b"1 beginbfrange <0000> <ffff> <0000> endbfrange 1 beginbfchar <0041> <0061> endbfchar";
        assert_eq!(shown_with("6 0 R", map, "00410042"), "aB");
    }
}
