//! A font's own map from codes to text, kept as ranges: one range may span every code there is.

use super::PdfError;
use super::budget::Budget;
use super::lexer::{Lexer, Token};
use super::object::Object;

/// Longer codes do not exist, and no character needs more text than this.
const MAX_CODE_BYTES: usize = 4;
const MAX_TARGET_BYTES: usize = 64;

#[derive(Default)]
pub(super) struct ToUnicode {
    /// Sorted by code length and first code.
    mappings: Vec<Mapping>,
}

struct Mapping {
    length: usize,
    low: u32,
    high: u32,
    target: Box<[u16]>,
}

impl ToUnicode {
    pub(super) fn parse(budget: &mut Budget<'_>, data: &[u8]) -> Result<Self, PdfError> {
        budget.charge_parsing(data.len())?;
        let mut map = Self::default();
        let mut lexer = Lexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token(0) {
            let keyword = match token {
                Token::Value(value) => {
                    operands.push(value);
                    continue;
                }
                Token::Keyword(keyword) => keyword,
            };
            match keyword {
                b"endbfchar" => {
                    for pair in operands.chunks_exact(2) {
                        if let [Object::String(code), Object::String(target)] = pair {
                            map.add(budget, code, code, target);
                        }
                    }
                }
                b"endbfrange" => {
                    for range in operands.chunks_exact(3) {
                        map.add_range(budget, range);
                    }
                }
                _ => {}
            }
            operands.clear();
        }
        map.mappings.sort_by_key(|mapping| (mapping.length, mapping.low));
        Ok(map)
    }

    fn add_range(&mut self, budget: &mut Budget<'_>, range: &[Object]) {
        match range {
            [Object::String(low), Object::String(high), Object::String(target)] => {
                self.add(budget, low, high, target);
            }
            [Object::String(low), _, Object::Array(targets)] => {
                let unused = 4 - low.len().min(MAX_CODE_BYTES);
                for (code, target) in (big_endian(low)..=u32::MAX).zip(targets) {
                    let code = code.to_be_bytes();
                    let code = code.get(unused..).unwrap_or_default();
                    if let Object::String(target) = target {
                        self.add(budget, code, code, target);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, budget: &mut Budget<'_>, low: &[u8], high: &[u8], target: &[u8]) {
        let fits = (1..=MAX_CODE_BYTES).contains(&low.len()) && target.len() <= MAX_TARGET_BYTES;
        if !fits || !budget.take_font_entries(1) {
            return;
        }
        let units = target
            .chunks(2)
            .map(|unit| unit.iter().fold(0, |code, &byte| code << 8 | u16::from(byte)));
        self.mappings.push(Mapping {
            length: low.len(),
            low: big_endian(low),
            high: big_endian(high),
            target: units.collect(),
        });
    }

    /// The text of the shortest code that `bytes` begins with, in UTF-16, and what follows it.
    pub(super) fn first<'b>(&self, bytes: &'b [u8]) -> Option<(Vec<u16>, &'b [u8])> {
        (1..=MAX_CODE_BYTES).find_map(|length| {
            let (code, after) = bytes.split_at_checked(length)?;
            Some((self.text(length, big_endian(code))?, after))
        })
    }

    fn text(&self, length: usize, code: u32) -> Option<Vec<u16>> {
        let after = self
            .mappings
            .partition_point(|mapping| (mapping.length, mapping.low) <= (length, code));
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        if mapping.length != length || code > mapping.high {
            return None;
        }
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

    use crate::workspace::pdf::test_pdf::{document_with_font, stream, text_of};

    #[test]
    fn reads_a_character_map_over_every_code_at_no_cost() {
        let map = b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>";
        let content = stream("", b"BT /F1 9 Tf <00000002> Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[stream("", map)])), "C");
    }
}
