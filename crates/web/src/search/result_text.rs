//! Converts titles and snippets of results to one short line of plain text.

use toolwright_page::without_character_references;

const MAX_TITLE: usize = 200;
const MAX_SNIPPET: usize = 500;

/// The elements that services use to highlight matches.
const MARKUP: [&str; 12] =
    ["a", "b", "br", "code", "em", "i", "mark", "p", "span", "strong", "sub", "sup"];
/// The maximum length of a tag, so that a `<` in text is not treated as one.
const MAX_TAG: usize = 300;

/// A title on one line.
pub(super) fn title(text: &str) -> String {
    plain(text, MAX_TITLE)
}

/// A snippet on one line.
pub(super) fn snippet(text: &str) -> String {
    plain(text, MAX_SNIPPET)
}

fn plain(text: &str, max_characters: usize) -> String {
    let text = without_tags(text);
    let text = without_character_references(&text);
    let visible: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let mut line = String::new();
    let mut characters = 0;
    for word in visible.split_whitespace() {
        let length = word.chars().count();
        if characters + length > max_characters {
            let room = max_characters.saturating_sub(characters);
            line.extend(word.chars().take(room));
            line.push('…');
            return line.trim_end().to_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        characters += length + 1;
    }
    line
}

/// The text without tags of [`MARKUP`]. Anything else in angle brackets, such as `Vec<T>`, is text.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        kept.push_str(before);
        let after_tag = tag_length(after).and_then(|length| after.get(length..));
        match after_tag {
            None => kept.push('<'),
            // A line break becomes a space.
            Some(_) if after.starts_with("br") || after.starts_with("p>") => kept.push(' '),
            Some(_) => {}
        }
        rest = after_tag.unwrap_or(after);
    }
    kept.push_str(rest);
    kept
}

/// The length of a tag of [`MARKUP`] after its `<`.
fn tag_length(text: &str) -> Option<usize> {
    let name = text.strip_prefix('/').unwrap_or(text);
    let name_length = name.bytes().take_while(u8::is_ascii_lowercase).count();
    if !MARKUP.contains(&name.get(..name_length)?) {
        return None;
    }
    let follows = *name.as_bytes().get(name_length)?;
    if !matches!(follows, b'>' | b'/' | b' ') {
        return None;
    }
    let end = text.bytes().take(MAX_TAG).position(|it| it == b'>')?;
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn markup_is_removed_and_code_is_kept() {
        for (text, wanted) in [
            ("a <strong>b</strong> &amp; c", "a b & c"),
            ("x<br/>y<br>z <a href=\"u\">l</a>", "x y z l"),
            ("Vec<T> and HashMap<K, V> &lt;i&gt; 1 < 2", "Vec<T> and HashMap<K, V> <i> 1 < 2"),
            ("a\n\tb\u{0}\u{1b}[31mc", "a b [31mc"),
            ("<b", "<b"),
            ("", ""),
        ] {
            assert_eq!(snippet(text), wanted, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let cut = title(&"ä".repeat(1000));
        assert_eq!(cut, format!("{}…", "ä".repeat(200)));
        assert_eq!(snippet(&"word ".repeat(1000)).chars().count(), 500);
        assert!(snippet(&"<b ".repeat(100_000)).ends_with('…'));
    }
}
