//! Character references of HTML: `&amp;`, `&#8212;`, `&#x2014;`.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};
use memchr::memchr;

/// Where a reference occurs. In an attribute, `&copy=1` is part of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceContext {
    Text,
    Attribute,
}

/// The text with its references decoded.
pub(super) fn decoded(text: &str, place: ReferenceContext) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut decoded = String::with_capacity(text.len());
    let (before, mut rest) = text.split_at_checked(first).unwrap_or((text, ""));
    decoded.push_str(before);
    while let Some(after) = rest.strip_prefix('&') {
        let read = match after.strip_prefix('#') {
            Some(number) => numeric(number, &mut decoded),
            None => named(after, place, &mut decoded),
        };
        rest = read.unwrap_or_else(|| {
            decoded.push('&');
            after
        });
        let next = memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        let (plain, more) = rest.split_at_checked(next).unwrap_or((rest, ""));
        decoded.push_str(plain);
        rest = more;
    }
    Cow::Owned(decoded)
}

/// Reads a numeric reference after `&#`. Returns the text after the reference.
fn numeric<'a>(text: &'a str, decoded: &mut String) -> Option<&'a str> {
    let (digits, radix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|it: char| !it.is_digit(radix)).unwrap_or(digits.len());
    let (number, rest) = digits.split_at_checked(end)?;
    if number.is_empty() {
        return None;
    }
    // A number that does not fit is not a character either.
    let code = u32::from_str_radix(number, radix).unwrap_or(u32::MAX);
    let of_windows = code.checked_sub(0x80).and_then(|at| C1_REPLACEMENTS.get(at as usize));
    let character = match (code, of_windows) {
        (0, _) => None,
        (_, Some(Some(replacement))) => Some(*replacement),
        _ => char::from_u32(code),
    };
    decoded.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(rest.strip_prefix(';').unwrap_or(rest))
}

/// Reads the longest known name after `&`. Returns the text after the reference.
fn named<'a>(text: &'a str, place: ReferenceContext, decoded: &mut String) -> Option<&'a str> {
    let mut found = None;
    let letters = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    for end in 1..=letters + 1 {
        let Some(name) = text.get(..end) else { break };
        // The table also contains prefixes of names, with 0 as their value.
        match NAMED_ENTITIES.get(name) {
            None => break,
            Some((0, _)) => {}
            Some(meaning) => found = Some((end, *meaning)),
        }
    }
    let (end, (first, second)) = found?;
    let (name, rest) = text.split_at_checked(end)?;
    let continues = rest.starts_with(|it: char| it == '=' || it.is_ascii_alphanumeric());
    if place == ReferenceContext::Attribute && continues && !name.ends_with(';') {
        return None;
    }
    decoded.extend([first, second].into_iter().filter(|it| *it != 0).filter_map(char::from_u32));
    Some(rest)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn references_become_characters() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("a &amp; b &lt;c&gt; &quot;d&quot;", "a & b <c> \"d\""),
            ("&#65;&#x42;&#X43;", "ABC"),
            ("&copy 2024 &notit; &notin;", "© 2024 ¬it; ∉"),
            ("&nbsp;&hellip;&NotEqualTilde;", "\u{a0}…≂\u{338}"),
            ("&#150;&#0;&#xD800;&#x110000;&#99999999999;", "–\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            ("& &; &x; &#; &#x; &unknown; &&amp", "& &; &x; &#; &#x; &unknown; &&"),
            ("ä&ö&auml;", "ä&öä"),
        ] {
            assert_eq!(decoded(text, ReferenceContext::Text), wanted, "{text}");
        }
    }

    #[test]
    fn a_url_in_an_attribute_keeps_its_parameters() {
        assert_eq!(decoded("?a&copy=1&lt&amp;x", ReferenceContext::Attribute), "?a&copy=1<&x");
    }
}
