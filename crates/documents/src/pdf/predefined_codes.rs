//! Fonts for Chinese, Japanese and Korean that name a predefined encoding instead of embedding a map.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};

use super::code_map::big_endian;
use super::lexer::find;

/// A predefined encoding whose codes are characters.
#[derive(Clone, Copy)]
pub(super) enum PredefinedCodes {
    Utf8,
    Utf16,
    Utf32,
    /// Codes of one or more bytes; the first byte determines the length.
    Multibyte(&'static Encoding),
    /// Codes of two bytes that are those of this encoding without their highest bits.
    SevenBit(&'static Encoding),
}

impl PredefinedCodes {
    /// The encoding of that name. `None` if its codes are glyph numbers.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        let has = |part: &[u8]| find(name, part, 0).is_some();
        let collection = name.strip_suffix(b"-H").or_else(|| name.strip_suffix(b"-V"));
        Some(match collection.unwrap_or(name) {
            b"GB" | b"GBT" => Self::SevenBit(GB18030),
            b"KSC" => Self::SevenBit(EUC_KR),
            b"H" | b"V" | b"78" | b"Add" | b"Ext" | b"NWP" => Self::SevenBit(EUC_JP),
            b"EUC" | b"78-EUC" => Self::Multibyte(EUC_JP),
            _ if has(b"UTF32") => Self::Utf32,
            _ if has(b"UTF16") || has(b"UCS2") => Self::Utf16,
            _ if has(b"UTF8") => Self::Utf8,
            _ if has(b"RKSJ") => Self::Multibyte(SHIFT_JIS),
            _ if has(b"B5") => Self::Multibyte(BIG5),
            other if other.starts_with(b"GB") => Self::Multibyte(GB18030),
            _ if has(b"KSC") && (has(b"EUC") || has(b"UHC")) => Self::Multibyte(EUC_KR),
            _ => return None,
        })
    }

    /// The length of the code that `bytes` begins with.
    pub(super) fn code_length(self, bytes: &[u8]) -> usize {
        let [first, second] = [0, 1].map(|index| bytes.get(index).copied().unwrap_or_default());
        match self {
            Self::Utf8 => match first {
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xff => 4,
                _ => 1,
            },
            Self::Utf16 if (0xd8..=0xdb).contains(&first) => 4,
            Self::Utf16 | Self::SevenBit(_) => 2,
            Self::Utf32 => 4,
            Self::Multibyte(encoding) => {
                if encoding == SHIFT_JIS {
                    usize::from(matches!(first, 0x81..=0x9f | 0xe0..=0xfc)) + 1
                } else if encoding == EUC_JP && first == 0x8f {
                    3
                } else if encoding == GB18030 && first > 0x80 && second.is_ascii_digit() {
                    4
                } else {
                    usize::from(first > 0x80) + 1
                }
            }
        }
    }

    /// Appends the character of a code. Returns whether there is one.
    pub(super) fn decode(self, code: &[u8], text: &mut String) -> bool {
        let before = text.len();
        match self {
            Self::Utf8 => text.push_str(std::str::from_utf8(code).unwrap_or_default()),
            Self::Utf16 => {
                let units = code.chunks(2).map(|unit| u16::try_from(big_endian(unit)).unwrap_or(0));
                text.extend(char::decode_utf16(units).filter_map(Result::ok));
            }
            Self::Utf32 => text.extend(char::from_u32(big_endian(code))),
            Self::Multibyte(encoding) => push_decoded(encoding, code, text),
            Self::SevenBit(encoding) => {
                let code: Vec<u8> = code.iter().map(|byte| byte | 0x80).collect();
                push_decoded(encoding, &code, text);
            }
        }
        text.len() > before
    }
}

fn push_decoded(encoding: &'static Encoding, code: &[u8], text: &mut String) {
    let decoded = encoding.decode_without_bom_handling_and_without_replacement(code);
    text.push_str(&decoded.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{document_with_font, stream, text_of};

    #[test]
    fn decodes_the_encodings_that_fonts_name() {
        for (encoding, shown, expected) in [
            ("90ms-RKSJ-H", "93fa967b8cea41b1", "日本語Aｱ"),
            ("90pv-RKSJ-V", "93fa", "日"),
            ("EUC-H", "c6fccbdcb8ec418eb1", "日本語Aｱ"),
            ("H", "467c4b5c", "日本"),
            ("GBK-EUC-H", "d6d0cec441", "中文A"),
            ("GBK2K-H", "d6d09030813041", "中\u{10000}A"),
            ("GB-H", "56504e44", "中文"),
            ("ETen-B5-H", "a4a4a4e541", "中文A"),
            ("HKscs-B5-H", "a4a4", "中"),
            ("KSCms-UHC-H", "c7d1b1db41", "한글A"),
            ("KSC-EUC-V", "c7d1", "한"),
            ("UniJIS-UTF16-H", "65e5d840dc0b", "日\u{2000b}"),
            ("UniGB-UCS2-H", "4e2d6587", "中文"),
            ("UniKS-UTF32-H", "0000d55c", "한"),
            ("UniJIS-UTF8-H", "e697a541", "日A"),
        ] {
            let font = format!("<< /Type /Font /Subtype /Type0 /Encoding /{encoding} >>");
            let content = stream("", format!("BT /F1 9 Tf <{shown}> Tj ET").as_bytes());
            assert_eq!(
                text_of(&document_with_font(&font, &[content], &[])).replace('\n', ""),
                expected,
                "{encoding}"
            );
        }
    }
}
