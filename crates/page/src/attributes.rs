//! Parses the attributes of a tag as browsers do.

use std::borrow::Cow;

use memchr::memchr;

use super::character_references::{ReferenceContext, decoded};

/// Access to the attributes of an element, in any representation.
pub(super) trait ElementAttributes {
    /// The value of an attribute; the name is in lower case.
    fn value(&self, name: &str) -> Option<Cow<'_, str>>;

    /// False if certainly no attribute hides the element.
    fn may_hide(&self) -> bool;
}

/// The source text of a tag's attributes, between its name and its `>`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes<'a> {
    source: &'a str,
}

impl<'a> Attributes<'a> {
    /// Parses the attributes at the start of a text, and returns the text after the tag. `None` if the tag
    /// does not end.
    pub(super) fn read(text: &'a str) -> Option<(Self, &'a str)> {
        let mut cursor = AttributeCursor { rest: text };
        loop {
            match cursor.step() {
                AttributeStep::Attribute(..) => {}
                AttributeStep::TextEnd => return None,
                AttributeStep::TagEnd => {
                    let length = text.len() - cursor.rest.len();
                    let source = text.get(..length)?;
                    return Some((Self { source }, cursor.rest.get(1..)?));
                }
            }
        }
    }

    /// The names and values, as written.
    pub(super) fn written(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut cursor = AttributeCursor { rest: self.source };
        std::iter::from_fn(move || match cursor.step() {
            AttributeStep::Attribute(name, value) => Some((name, value)),
            AttributeStep::TagEnd | AttributeStep::TextEnd => None,
        })
    }
}

impl ElementAttributes for Attributes<'_> {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.written().find(|(it, _)| it.eq_ignore_ascii_case(name))?;
        Some(decoded(value, ReferenceContext::Attribute))
    }

    fn may_hide(&self) -> bool {
        let has = |word: &str| memchr::memmem::find(self.source.as_bytes(), word.as_bytes());
        has("hidden").or_else(|| has("none")).is_some()
    }
}

enum AttributeStep<'a> {
    Attribute(&'a str, &'a str),
    /// The rest begins with `>`.
    TagEnd,
    TextEnd,
}

struct AttributeCursor<'a> {
    rest: &'a str,
}

impl<'a> AttributeCursor<'a> {
    fn step(&mut self) -> AttributeStep<'a> {
        self.take_while(|it| is_space(it) || it == b'/');
        match self.first() {
            None => return AttributeStep::TextEnd,
            Some(b'>') => return AttributeStep::TagEnd,
            Some(_) => {}
        }
        // A name may begin with `=`, but `=` ends it at any later position.
        let mut is_first = true;
        let name = self.take_while(|it| {
            std::mem::take(&mut is_first) || !(is_space(it) || matches!(it, b'/' | b'>' | b'='))
        });
        let after_name = self.rest;
        self.take_while(is_space);
        if self.first() != Some(b'=') {
            self.rest = after_name;
            return AttributeStep::Attribute(name, "");
        }
        self.skip_one();
        self.take_while(is_space);
        let Some(quote @ (b'"' | b'\'')) = self.first() else {
            let value = self.take_while(|it| !is_space(it) && it != b'>');
            return AttributeStep::Attribute(name, value);
        };
        self.skip_one();
        let Some(end) = memchr(quote, self.rest.as_bytes()) else {
            self.rest = "";
            return AttributeStep::TextEnd;
        };
        let value = self.take(end);
        self.skip_one();
        AttributeStep::Attribute(name, value)
    }

    fn first(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Takes bytes while `is_taken` is true. It is false only for ASCII characters, so the result ends at a
    /// character boundary.
    fn take_while(&mut self, mut is_taken: impl FnMut(u8) -> bool) -> &'a str {
        let bytes = self.rest.as_bytes();
        let length = bytes.iter().position(|it| !is_taken(*it)).unwrap_or(bytes.len());
        self.take(length)
    }

    fn skip_one(&mut self) {
        self.take(1);
    }
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn attributes_are_parsed_in_every_notation() {
        for (text, wanted, rest) in [
            (">x", vec![], "x"),
            (" a=1 b='2>' c=\"3\" d>x", vec![("a", "1"), ("b", "2>"), ("c", "3"), ("d", "")], "x"),
            (" A = 1 / b>", vec![("A", "1"), ("b", "")], ""),
            (" =x=1>", vec![("=x", "1")], ""),
            (" a=>", vec![("a", "")], ""),
            (" a=/b/>", vec![("a", "/b/")], ""),
            (" \"q>", vec![("\"q", "")], ""),
            (" ä=ö>ü", vec![("ä", "ö")], "ü"),
        ] {
            let (attributes, after) = Attributes::read(text).unwrap();
            assert_eq!((attributes.written().collect::<Vec<_>>(), after), (wanted, rest), "{text}");
        }
        for unfinished in ["", " a", " a='x>", " a=\"", " /"] {
            assert!(Attributes::read(unfinished).is_none(), "{unfinished}");
        }
    }

    #[test]
    fn the_first_of_duplicate_attributes_is_used_and_decoded() {
        let (attributes, _) = Attributes::read(" HREF='?a=1&amp;b=2&copy=3' href=x>").unwrap();
        assert_eq!(attributes.value("href").unwrap(), "?a=1&b=2&copy=3");
        assert!(attributes.value("src").is_none());
    }
}
