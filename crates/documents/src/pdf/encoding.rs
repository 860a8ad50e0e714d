//! The character of each byte in a simple font: from a standard table, changed by the font's own
//! `/Differences`.

use std::cmp::Ordering;

use super::PdfError;
use super::object::Object;
use super::object_reader::ObjectReader;

/// Simple fonts have one-byte codes.
pub(super) const SIMPLE_CODES: usize = 256;
const MAX_DIFFERENCES: usize = 1024;

/// Glyph names with their code point in hexadecimal, one per line and sorted: the Adobe Glyph List
/// and the names that TeX uses. Kept as text, because a `match` would take six times the space.
const GLYPH_NAMES: &str = include_str!("glyph_names.txt");

/// The code of the first character of each table; `\0` in a table is a code without a character.
const FIRST_IN_TABLE: usize = 32;

const STANDARD: &str = "\
    \x20!\"#$%&’()*+,-./0123456789:;<=>?\
    @ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\
    ‘abcdefghijklmnopqrstuvwxyz{|}~\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \0¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\
    \0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0";

const WIN_ANSI: &str = "\
    \x20!\"#$%&'()*+,-./0123456789:;<=>?\
    @ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\
    `abcdefghijklmnopqrstuvwxyz{|}~•\
    €•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ\
    \x20¡¢£¤¥¦§¨©ª«¬-®¯°±²³´µ¶·¸¹º»¼½¾¿\
    ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß\
    àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";

const MAC_ROMAN: &str = "\
    \x20!\"#$%&'()*+,-./0123456789:;<=>?\
    @ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\
    `abcdefghijklmnopqrstuvwxyz{|}~\0\
    ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü\
    †°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªº\u{2126}æø\
    ¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄¤‹›ﬁﬂ\
    ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Small capitals, old-style figures and the like, most of them in the private use area.
const MAC_EXPERT: &str = "\
    \x20\u{f721}\u{f6f8}\u{f7a2}\u{f724}\u{f6e4}\u{f726}\u{f7b4}⁽⁾‥․,-.⁄\u{f730}\u{f731}\
    \u{f732}\u{f733}\u{f734}\u{f735}\u{f736}\u{f737}\u{f738}\u{f739}:;\0\u{f6de}\0\u{f73f}\
    \0\0\0\0\u{f7f0}\0\0¼½¾⅛⅜⅝⅞⅓⅔\0\0\0\0\0\0ﬀﬁﬂﬃﬄ₍\0₎\u{f6f6}\u{f6e5}\
    \u{f760}\u{f761}\u{f762}\u{f763}\u{f764}\u{f765}\u{f766}\u{f767}\u{f768}\u{f769}\u{f76a}\
    \u{f76b}\u{f76c}\u{f76d}\u{f76e}\u{f76f}\u{f770}\u{f771}\u{f772}\u{f773}\u{f774}\u{f775}\
    \u{f776}\u{f777}\u{f778}\u{f779}\u{f77a}₡\u{f6dc}\u{f6dd}\u{f6fe}\0\
    \0\u{f6e9}\u{f6e0}\0\0\0\0\u{f7e1}\u{f7e0}\u{f7e2}\u{f7e4}\u{f7e3}\u{f7e5}\u{f7e7}\
    \u{f7e9}\u{f7e8}\u{f7ea}\u{f7eb}\u{f7ed}\u{f7ec}\u{f7ee}\u{f7ef}\u{f7f1}\u{f7f3}\u{f7f2}\
    \u{f7f4}\u{f7f6}\u{f7f5}\u{f7fa}\u{f7f9}\u{f7fb}\u{f7fc}\
    \0⁸₄₃₆₈₇\u{f6fd}\0\u{f6df}₂\0\u{f7a8}\0\u{f6f5}\u{f6f0}₅\0\u{f6e1}\u{f6e7}\u{f7fd}\0\
    \u{f6e3}\0\0\u{f7fe}\0₉₀\u{f6ff}\u{f7e6}\u{f7f8}\
    \u{f7bf}₁\u{f6f9}\0\0\0\0\0\0\u{f7b8}\0\0\0\0\0\u{f6fa}‒\u{f6e6}\0\0\0\0\u{f7a1}\0\
    \u{f7ff}\0¹²³⁴⁵⁶\
    ⁷⁹⁰\0\u{f6ec}\u{f6f1}\u{f6f3}\0\0\u{f6ed}\u{f6f2}\u{f6eb}\0\0\0\0\0\u{f6ee}\u{f6fb}\
    \u{f6f4}\u{f7af}\u{f6ea}ⁿ\u{f6ef}\u{f6e2}\u{f6e8}\u{f6f7}\u{f6fc}\0\0\0\0";

/// The two standard fonts that have their own encoding. Each line is a code, its character and its
/// width.
const SYMBOL: &str = include_str!("symbol_font.txt");
const DINGBATS: &str = include_str!("dingbats_font.txt");

/// The meaning of each code of a simple font.
pub(super) struct SimpleEncoding {
    characters: Vec<CodeMeaning>,
}

/// The meaning of one code of a font.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodeMeaning {
    Text(char),
    /// A ligature whose name consists of the names of its parts.
    Texts(Box<str>),
    /// A glyph whose character is unknown.
    Unknown,
    /// No glyph is drawn.
    Nothing,
}

/// The meaning of the codes that a font's `/Encoding` does not define.
#[derive(Clone, Copy)]
pub(super) enum BuiltIn<'n> {
    Standard,
    Symbol,
    Dingbats,
    /// Every code draws an embedded glyph whose name is unknown.
    OfItsOwn,
    /// The glyph names in the embedded font program, by code.
    Names(&'n [(usize, Vec<u8>)]),
}

impl SimpleEncoding {
    pub(super) fn load(
        reader: &mut ObjectReader<'_>,
        encoding: Option<Object>,
        built_in: BuiltIn<'_>,
    ) -> Result<Self, PdfError> {
        let (base, differences) = match encoding {
            Some(Object::Name(name)) => (table_named(&name), None),
            Some(Object::Dictionary(dictionary)) => (
                dictionary.name(b"BaseEncoding").and_then(table_named),
                reader.get(&dictionary, b"Differences")?,
            ),
            _ => (None, None),
        };
        let mut encoding = match base {
            Some(table) => Self::of_table(table),
            None => Self::of_font(built_in),
        };
        if let Some(Object::Array(differences)) = differences {
            let mut code = 0;
            for difference in differences.iter().take(MAX_DIFFERENCES) {
                match difference {
                    Object::Integer(next) => code = usize::try_from(*next).unwrap_or(usize::MAX),
                    Object::Name(name) => {
                        encoding.set(code, meaning_of(name));
                        code = code.saturating_add(1);
                    }
                    _ => {}
                }
            }
        }
        Ok(encoding)
    }

    pub(super) fn meaning(&self, code: u8) -> &CodeMeaning {
        self.characters.get(usize::from(code)).unwrap_or(&CodeMeaning::Nothing)
    }

    fn of_font(built_in: BuiltIn<'_>) -> Self {
        match built_in {
            BuiltIn::Standard => Self::of_table(STANDARD),
            BuiltIn::Symbol => Self::of_list(SYMBOL),
            BuiltIn::Dingbats => Self::of_list(DINGBATS),
            BuiltIn::OfItsOwn => Self { characters: vec![CodeMeaning::Unknown; SIMPLE_CODES] },
            BuiltIn::Names(names) => {
                let mut encoding = Self { characters: vec![CodeMeaning::Nothing; SIMPLE_CODES] };
                for (code, name) in names {
                    encoding.set(*code, meaning_of(name));
                }
                encoding
            }
        }
    }

    fn of_table(table: &str) -> Self {
        let mut characters = vec![CodeMeaning::Nothing; FIRST_IN_TABLE];
        characters.extend(table.chars().map(|character| match character {
            '\0' => CodeMeaning::Unknown,
            known => CodeMeaning::Text(known),
        }));
        Self { characters }
    }

    fn of_list(list: &str) -> Self {
        let mut encoding = Self { characters: vec![CodeMeaning::Nothing; SIMPLE_CODES] };
        for (code, character, _) in own_codes(list) {
            encoding.set(code, CodeMeaning::Text(character));
        }
        encoding
    }

    fn set(&mut self, code: usize, meaning: CodeMeaning) {
        if let Some(slot) = self.characters.get_mut(code) {
            *slot = meaning;
        }
    }
}

/// The width of each code of a font with its own encoding, in thousandths of the font size.
pub(super) fn own_widths(built_in: BuiltIn<'_>) -> Vec<(usize, f64)> {
    let list = match built_in {
        BuiltIn::Symbol => SYMBOL,
        BuiltIn::Dingbats => DINGBATS,
        BuiltIn::Standard | BuiltIn::OfItsOwn | BuiltIn::Names(_) => "",
    };
    own_codes(list).map(|(code, _, width)| (code, width)).collect()
}

fn own_codes(list: &str) -> impl Iterator<Item = (usize, char, f64)> {
    list.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let code = fields.next()?.parse().ok()?;
        let character = char::from_u32(u32::from_str_radix(fields.next()?, 16).ok()?)?;
        Some((code, character, fields.next()?.parse().ok()?))
    })
}

fn table_named(name: &[u8]) -> Option<&'static str> {
    match name {
        b"StandardEncoding" => Some(STANDARD),
        b"WinAnsiEncoding" => Some(WIN_ANSI),
        b"MacRomanEncoding" => Some(MAC_ROMAN),
        b"MacExpertEncoding" => Some(MAC_EXPERT),
        _ => None,
    }
}

fn meaning_of(name: &[u8]) -> CodeMeaning {
    if name == b".notdef" {
        return CodeMeaning::Nothing;
    }
    let Some(text) = std::str::from_utf8(name).ok().and_then(text_of_glyph) else {
        return CodeMeaning::Unknown;
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(single), None) => CodeMeaning::Text(single),
        _ => CodeMeaning::Texts(text.into()),
    }
}

/// The text of a named glyph. A name such as `f_i.alt` consists of the names of its parts and of a
/// variant, which is ignored.
fn text_of_glyph(name: &str) -> Option<String> {
    if let Some(character) = glyph(name) {
        return Some(character.to_string());
    }
    let parts = match name.split_once('.') {
        Some((parts, _)) if !parts.is_empty() => parts,
        _ => name,
    };
    parts.split('_').map(glyph).collect()
}

/// The character of a named glyph: from the list, or from the code point in a name such as `uni20AC`.
fn glyph(name: &str) -> Option<char> {
    let code = match listed(GLYPH_NAMES, name) {
        Some(code) => code,
        None => match name.strip_prefix("uni") {
            Some(code) => code.get(..4)?,
            None => name.strip_prefix('u').filter(|code| (4..=6).contains(&code.len()))?,
        },
    };
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// The value of a name in a sorted list that has one name per line. Uses binary search on the text,
/// so that no index has to be built or kept.
pub(super) fn listed(list: &'static str, name: &str) -> Option<&'static str> {
    let mut rest = list;
    loop {
        let (before, from_middle) = rest.split_at_checked(rest.len() / 2)?;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let end = before.len() + from_middle.find('\n')?;
        let (found, behind) = rest.get(start..end)?.split_once(' ')?;
        rest = match name.cmp(found) {
            Ordering::Equal => return Some(behind),
            Ordering::Less => rest.get(..start)?,
            Ordering::Greater => rest.get(end + 1..)?,
        };
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn knows_every_listed_name_and_names_made_of_a_code() {
        for line in GLYPH_NAMES.lines() {
            let (name, code) = line.split_once(' ').unwrap_or_default();
            assert_eq!(listed(GLYPH_NAMES, name), Some(code));
        }
        for (name, character) in [
            ("A", Some('A')),
            ("zukatakana", Some('\u{30ba}')),
            ("uni20AC", Some('\u{20ac}')),
            ("u20AC", Some('\u{20ac}')),
            ("uni20", None),
            ("u1F600", Some('\u{1f600}')),
            ("", None),
            ("zzz", None),
            ("A ", None),
            ("unknown", None),
        ] {
            assert_eq!(glyph(name), character, "{name}");
        }
    }

    #[test]
    fn has_a_character_or_none_for_every_code_of_a_table() {
        for table in [STANDARD, WIN_ANSI, MAC_ROMAN, MAC_EXPERT] {
            assert_eq!(FIRST_IN_TABLE + table.chars().count(), SIMPLE_CODES);
        }
    }

    #[test]
    fn reads_names_that_are_made_of_parts() {
        for (name, meaning) in [
            ("f_j", CodeMeaning::Texts("fj".into())),
            ("a.sc", CodeMeaning::Text('a')),
            ("A_uni0301.alt2", CodeMeaning::Texts("A\u{301}".into())),
            (".notdef", CodeMeaning::Nothing),
            ("g17", CodeMeaning::Unknown),
            ("f_g17", CodeMeaning::Unknown),
        ] {
            assert_eq!(meaning_of(name.as_bytes()), meaning, "{name}");
        }
    }

    #[test]
    fn symbol_fonts_use_their_built_in_codes() {
        let symbol = SimpleEncoding::of_font(BuiltIn::Symbol);
        assert_eq!(symbol.meaning(b'a'), &CodeMeaning::Text('\u{3b1}'));
        let dingbats = SimpleEncoding::of_font(BuiltIn::Dingbats);
        assert_eq!(dingbats.meaning(b'4'), &CodeMeaning::Text('\u{2714}'));
        assert_eq!(own_widths(BuiltIn::Symbol).len(), SYMBOL.lines().count());
        assert_eq!(own_widths(BuiltIn::Dingbats).len(), DINGBATS.lines().count());
    }
}
