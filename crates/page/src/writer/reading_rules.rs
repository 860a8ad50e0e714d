//! Rules for hidden parts of a page, and for special characters.

use std::borrow::Cow;

use crate::{attributes::ElementAttributes, tag::Tag};

/// True for the sign beside a heading that links to the heading itself.
pub(super) fn is_permalink(text: &str) -> bool {
    matches!(text.trim(), "#" | "§" | "¶" | "🔗")
}

/// Superscript text as a power or the number of a note: without a mark, 10 to the third would be 103. `None`
/// for words such as the end of `1st`, and without preceding text.
pub(super) fn raised(text: &str, before: Option<char>) -> Option<String> {
    const LONGEST: usize = 20;
    let text = text.trim();
    let has_base = before.is_some_and(|it| it.is_alphanumeric() || ")]}*`".contains(it));
    let is_word = text.len() > 1 && text.chars().all(char::is_alphabetic);
    let begins = |it: char| it.is_alphanumeric() || "+-\u{2212}".contains(it);
    if !has_base || is_word || text.len() > LONGEST || !text.starts_with(begins) {
        return None;
    }
    let digits = text.trim_start_matches(['+', '-', '\u{2212}']);
    let is_plain = digits.chars().all(char::is_alphanumeric);
    Some(if is_plain { format!("^{text}") } else { format!("^({text})") })
}

/// True for elements that the page hides from readers.
pub(super) fn is_hidden(tag: Tag, attributes: &dyn ElementAttributes) -> bool {
    if attributes.value("hidden").is_some_and(|it| !it.eq_ignore_ascii_case("until-found")) {
        return true;
    }
    let style = attributes.value("style").unwrap_or_default();
    let style: String = style.split_ascii_whitespace().collect::<String>().to_ascii_lowercase();
    if style.contains("display:none") || style.contains("visibility:hidden") {
        return true;
    }
    // A dialog may temporarily hide the whole page from screen readers, so `aria-hidden` on large containers
    // is ignored; decoration is small.
    let may_be_content =
        matches!(tag, Tag::Article | Tag::Body | Tag::Div | Tag::Html | Tag::Main | Tag::Section);
    !may_be_content
        && attributes.value("aria-hidden").is_some_and(|it| it.trim().eq_ignore_ascii_case("true"))
}

/// The text without control characters and soft hyphens, and with plain spaces.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    let is_dropped =
        |it: char| it.is_control() && !matches!(it, '\n' | '\t' | '\r' | '\x0c') || it == '\u{ad}';
    if text.is_ascii() {
        let has_control =
            |it: u8| it.is_ascii_control() && !matches!(it, b'\n' | b'\t' | b'\r' | b'\x0c');
        if !text.bytes().any(has_control) {
            return text.into();
        }
    }
    text.chars()
        .filter(|it| !is_dropped(*it))
        .map(|it| if it == '\u{a0}' { ' ' } else { it })
        .collect()
}
