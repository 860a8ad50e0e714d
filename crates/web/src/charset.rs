//! Decodes a body to text. The encoding is determined from a byte order mark, the header, a `<meta>` tag, or
//! a guess.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The number of bytes that are searched for a `<meta>` tag, as in browsers.
const PRESCAN: usize = 1_024;
/// The number of bytes used to guess an encoding.
const GUESS_BYTES: usize = 1024 * 1024;

/// The text of a body and the name of its encoding. Invalid bytes become `U+FFFD`, so decoding never fails.
///
/// Servers often declare a wrong encoding. Valid UTF-8 is therefore decoded as UTF-8 whatever is declared,
/// and invalid UTF-8 is not decoded as UTF-8 just because it is declared.
pub fn decode_text(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
    let encoding = encoding_of(body, content_type);
    let (text, encoding, _) = encoding.decode(body);
    let text = match text {
        Cow::Owned(text) => text,
        Cow::Borrowed(text) => text.to_owned(),
    };
    (text, encoding.name())
}

fn encoding_of(body: &[u8], content_type: Option<&str>) -> &'static Encoding {
    if let Some((marked, _)) = Encoding::for_bom(body) {
        return marked;
    }
    let named = content_type.and_then(charset_parameter).and_then(encoding_named);
    let named = named.or_else(|| in_page(body));
    match named {
        // Text in these encodings is also valid UTF-8 (ASCII or zero bytes), so validity does not rule them
        // out.
        Some(named) if !named.is_ascii_compatible() => named,
        _ if is_utf8(body, named) => utf16_without_mark(body).unwrap_or(UTF_8),
        Some(named) if named != UTF_8 => named,
        _ => guess(body),
    }
}

/// The encoding of a label. `x-user-defined` is used by scripts for binary data, never for text.
fn encoding_named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|it| *it != X_USER_DEFINED)
}

/// The `charset` of a content type: `text/html; charset="utf-8"`.
fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Whether bytes are UTF-8. The last character may be incomplete, because a body may be cut.
///
/// The last byte of `café` in Latin-1 also looks like an incomplete character. So an incomplete character is
/// accepted only if something else indicates UTF-8: the label, or another non-ASCII character.
fn is_utf8(body: &[u8], named: Option<&'static Encoding>) -> bool {
    let Err(error) = std::str::from_utf8(body) else { return true };
    let before = body.get(..error.valid_up_to()).unwrap_or_default();
    error.error_len().is_none() && (named == Some(UTF_8) || !before.is_ascii())
}

/// The encoding that a page declares: `<meta charset>`, `<meta http-equiv content>` or `<?xml encoding?>`.
fn in_page(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..PRESCAN).unwrap_or(body);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let head = without_comments(&head);
    let label = xml_label(&head).or_else(|| meta_label(&head))?;
    // The label could be read as ASCII, so the page is not UTF-16, whatever it declares.
    match encoding_named(&label)? {
        it if it == UTF_16LE || it == UTF_16BE => Some(UTF_8),
        it => Some(it),
    }
}

fn without_comments(head: &str) -> String {
    let mut kept = String::with_capacity(head.len());
    let mut rest = head;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |it| it.1);
    }
    kept.push_str(rest);
    kept
}

fn xml_label(head: &str) -> Option<String> {
    let declaration = head.trim_start().strip_prefix("<?xml")?.split_once('>')?.0;
    value_after(declaration.split_once("encoding")?.1)
}

fn meta_label(head: &str) -> Option<String> {
    head.split("<meta").skip(1).find_map(|tag| {
        let tag = tag.split_once('>')?.0;
        let begins = tag.starts_with(|it: char| it.is_ascii_whitespace() || it == '/');
        if !begins {
            return None;
        }
        tag.match_indices("charset").find_map(|(at, found)| {
            let label = value_after(tag.get(at + found.len()..)?)?;
            encoding_named(&label).map(|_| label)
        })
    })
}

/// The value in `= "value"`, with or without quotes.
fn value_after(text: &str) -> Option<String> {
    let value = text.trim_start().strip_prefix('=')?.trim_start();
    let quoted = value.strip_prefix(['"', '\'']).unwrap_or(value);
    let end = quoted.find(|it: char| "\"';>/?".contains(it) || it.is_ascii_whitespace());
    quoted.get(..end.unwrap_or(quoted.len())).map(str::to_owned).filter(|it| !it.is_empty())
}

/// Detects UTF-16 without a byte order mark: in plain text every second byte is zero, which no other encoding
/// has.
fn utf16_without_mark(body: &[u8]) -> Option<&'static Encoding> {
    let sample = body.get(..PRESCAN).unwrap_or(body);
    let zeros =
        |parity: usize| sample.iter().skip(parity).step_by(2).filter(|it| **it == 0).count();
    let is_wide = |zeros: usize| zeros > sample.len() / 4;
    match (zeros(0), zeros(1)) {
        (0, odd) if is_wide(odd) => Some(UTF_16LE),
        (even, 0) if is_wide(even) => Some(UTF_16BE),
        _ => None,
    }
}

/// The most likely encoding of bytes that are not valid UTF-8. UTF-8 with a few invalid bytes still counts as
/// UTF-8.
fn guess(body: &[u8]) -> &'static Encoding {
    let sample = body.get(..GUESS_BYTES).unwrap_or(body);
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in sample.utf8_chunks() {
        valid += chunk.valid().chars().filter(|it| !it.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if valid > invalid.saturating_mul(4) {
        return UTF_8;
    }
    if let Some(wide) = utf16_without_mark(sample) {
        return wide;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == body.len());
    let guessed = detector.guess(None, Utf8Detection::Deny);
    if guessed == UTF_8 { WINDOWS_1252 } else { guessed }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_encoding_declared_in_a_page_is_found() {
        for (head, wanted) in [
            ("<meta charset=koi8-r>", Some("KOI8-R")),
            ("<META CHARSET = \"KOI8-R\" >", Some("KOI8-R")),
            ("<meta http-equiv=Content-Type content='text/html; charset=gb2312'>", Some("GBK")),
            ("<?xml version='1.0' encoding='windows-1251'?><a/>", Some("windows-1251")),
            ("<!-- <meta charset=koi8-r> --><meta charset=big5>", Some("Big5")),
            ("<meta name=charset content=x><meta charset=big5>", Some("Big5")),
            ("<meta charset=nonsense><meta charset=big5>", Some("Big5")),
            ("<meta charset=utf-16>", Some("UTF-8")),
            ("<metadata charset=koi8-r>", None),
            ("<meta charset=>", None),
            ("<meta charset", None),
            ("<!-- <meta charset=koi8-r>", None),
            ("<p>charset=koi8-r</p>", None),
        ] {
            assert_eq!(in_page(head.as_bytes()).map(Encoding::name), wanted, "{head}");
        }
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(PRESCAN));
        assert_eq!(in_page(late.as_bytes()), None);
    }

    #[test]
    fn the_encoding_of_an_unlabelled_text_is_guessed() {
        for (bytes, wanted) in [
            ("日本語のテキスト、これは長い文章です".as_bytes().to_vec(), "UTF-8"),
            (
                encoding_rs::SHIFT_JIS
                    .encode("日本語のテキスト、これは長い文章です")
                    .0
                    .into_owned(),
                "Shift_JIS",
            ),
            (
                encoding_rs::WINDOWS_1251
                    .encode("Это довольно длинный текст на русском языке")
                    .0
                    .into_owned(),
                "windows-1251",
            ),
            ("plain".encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16LE"),
            ("plain".encode_utf16().flat_map(u16::to_be_bytes).collect(), "UTF-16BE"),
        ] {
            assert_eq!(decode_text(&bytes, None).1, wanted);
        }
    }

    #[test]
    fn an_incomplete_last_character_is_utf8_only_with_other_evidence() {
        for (body, content_type, text, encoding) in [
            (&b"caf\xe9"[..], "text/plain; charset=iso-8859-1", "café", "windows-1252"),
            (b"caf\xe9", "text/plain", "café", "windows-1252"),
            (b"caf\xc3", "text/plain; charset=utf-8", "caf\u{fffd}", "UTF-8"),
            (b"\xc3\xa9 caf\xc3", "text/plain", "é caf\u{fffd}", "UTF-8"),
            (b"\xc3\xa9 caf\xc3", "text/plain; charset=iso-8859-1", "é caf\u{fffd}", "UTF-8"),
            (b"<meta charset=koi8-r>\xc4", "text/html", "<meta charset=koi8-r>д", "KOI8-R"),
        ] {
            let decoded = decode_text(body, Some(content_type));
            assert_eq!(decoded, (text.to_owned(), encoding), "{content_type}");
        }
    }

    proptest! {
        #[test]
        fn every_body_can_be_decoded(body: Vec<u8>, label in "[ -~]{0,40}") {
            let (text, _) = decode_text(&body, Some(&label));
            prop_assert!(body.is_empty() || !text.is_empty() || body.len() < 4);
        }
    }
}
