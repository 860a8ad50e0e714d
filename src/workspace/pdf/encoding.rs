//! What each byte means in a simple font: the standard tables, then the font's own differences.

use std::cmp::Ordering;

use super::PdfError;
use super::object::Object;
use super::reader::Reader;

/// Simple fonts have one-byte codes.
pub(super) const SIMPLE_CODES: usize = 256;
const MAX_DIFFERENCES: usize = 1024;

/// Names of glyphs with their code in hexadecimal, one to a line and sorted: the Adobe Glyph List
/// and the names of TeX. As a `match` they would take six times the space.
const GLYPH_NAMES: &str = include_str!("glyph_names.txt");

/// The code that a table begins with; `\0` in a table is a code without a character.
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

/// Small capitals, old-style figures and the like, most of them for private use.
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

/// The character of each byte.
pub(super) fn simple_encoding(
    reader: &mut Reader<'_>,
    encoding: Option<Object>,
) -> Result<Vec<Option<char>>, PdfError> {
    let (base, differences) = match encoding {
        Some(Object::Name(name)) => (standard_table(Some(&name)), None),
        Some(Object::Dictionary(dictionary)) => (
            standard_table(dictionary.name(b"BaseEncoding")),
            reader.get(&dictionary, b"Differences")?,
        ),
        _ => (STANDARD, None),
    };
    let mut table = vec![None; FIRST_IN_TABLE];
    table.extend(base.chars().map(|character| Some(character).filter(|&known| known != '\0')));
    if let Some(Object::Array(differences)) = differences {
        let mut code = 0;
        for difference in differences.iter().take(MAX_DIFFERENCES) {
            match difference {
                Object::Integer(next) => code = usize::try_from(*next).unwrap_or(usize::MAX),
                Object::Name(name) => {
                    if let Some(slot) = table.get_mut(code) {
                        *slot = glyph(name);
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }
    Ok(table)
}

fn standard_table(name: Option<&[u8]>) -> &'static str {
    match name {
        Some(b"WinAnsiEncoding") => WIN_ANSI,
        Some(b"MacRomanEncoding") => MAC_ROMAN,
        Some(b"MacExpertEncoding") => MAC_EXPERT,
        _ => STANDARD,
    }
}

/// The character of a named glyph: by the list, or by the code in a name such as `uni20AC`.
fn glyph(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let code = match listed(name) {
        Some(code) => code,
        None => name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))?.get(..4)?,
    };
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// Looks a name up by halving the list, without an index to build or keep.
fn listed(name: &str) -> Option<&'static str> {
    let mut rest = GLYPH_NAMES;
    loop {
        let (before, from_middle) = rest.split_at_checked(rest.len() / 2)?;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let end = before.len() + from_middle.find('\n')?;
        let (found, code) = rest.get(start..end)?.split_once(' ')?;
        rest = match name.cmp(found) {
            Ordering::Equal => return Some(code),
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
            assert_eq!(listed(name), Some(code));
        }
        for (name, character) in [
            ("A", Some('A')),
            ("zukatakana", Some('\u{30ba}')),
            ("uni20AC", Some('\u{20ac}')),
            ("u20AC", Some('\u{20ac}')),
            ("uni20", None),
            ("", None),
            ("zzz", None),
            ("A ", None),
            ("unknown", None),
        ] {
            assert_eq!(glyph(name.as_bytes()), character, "{name}");
        }
    }

    #[test]
    fn has_a_character_or_none_for_every_code_of_a_table() {
        for table in [STANDARD, WIN_ANSI, MAC_ROMAN, MAC_EXPERT] {
            assert_eq!(FIRST_IN_TABLE + table.chars().count(), SIMPLE_CODES);
        }
    }
}
