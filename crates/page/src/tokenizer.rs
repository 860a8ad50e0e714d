//! It takes time proportional to the page, whatever the page contains, and keeps only its position: unlike
//! the tokenizers of browser engines it neither collects attributes nor compares their names.

use memchr::{memchr_iter, memmem};

use super::{
    attributes::{Attributes, is_space},
    tag::{ContentModel, Tag},
};

/// A piece of a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    /// Text that may contain character references.
    Text(&'a str),
    /// Text without character references.
    Verbatim(&'a str),
    /// A start tag.
    Start(StartTag<'a>),
    /// An end tag.
    End(Tag, &'a str),
}

/// A start tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTag<'a> {
    pub(super) tag: Tag,
    /// The name as it is written.
    pub(super) name: &'a str,
    pub(super) attributes: Attributes<'a>,
}

/// The tokens of a page, in order.
pub(super) struct Tokenizer<'a> {
    rest: &'a str,
    /// The element whose content follows, if that content is not markup.
    inside: Option<(&'a str, ContentModel)>,
}

impl<'a> Tokenizer<'a> {
    pub(super) const fn new(page: &'a str) -> Self {
        Self { rest: page, inside: None }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Text up to the next tag or comment. A `<` that starts neither is text.
    fn text(&mut self) -> Token<'a> {
        let bytes = self.rest.as_bytes();
        let begins_markup = |at: &usize| {
            let follows = bytes.get(at + 1..).unwrap_or_default();
            match follows {
                [b'/', _, ..] | [b'!' | b'?', ..] => true,
                [first, ..] => first.is_ascii_alphabetic(),
                [] => false,
            }
        };
        let end = memchr_iter(b'<', bytes).find(begins_markup);
        Token::Text(self.take(end.unwrap_or(bytes.len())))
    }

    /// The content of an element without markup inside. Its end tag is not consumed.
    fn content(&mut self, name: &str, model: ContentModel) -> Option<Token<'a>> {
        let length = match model {
            ContentModel::ToTheEnd => self.rest.len(),
            _ => memmem::find_iter(self.rest.as_bytes(), "</")
                .find(|at| is_end_tag(self.rest.get(at + 2..).unwrap_or_default(), name))
                .unwrap_or(self.rest.len()),
        };
        let content = self.take(length);
        if content.is_empty() {
            return None;
        }
        Some(match model {
            ContentModel::Characters => Token::Text(content),
            _ => Token::Verbatim(content),
        })
    }

    /// Skips up to and including `end`, or to the end of the page.
    fn skip_past(&mut self, end: &str) {
        let length = memmem::find(self.rest.as_bytes(), end.as_bytes());
        self.take(length.map_or(self.rest.len(), |at| at + end.len()));
    }

    fn skip_comment(&mut self) {
        self.take("<!--".len());
        for short in [">", "->"] {
            if self.rest.starts_with(short) {
                self.take(short.len());
                return;
            }
        }
        let bytes = self.rest.as_bytes();
        let is_end = |at: &usize| {
            let before = bytes.get(..*at).unwrap_or_default();
            before.ends_with(b"--") || before.ends_with(b"--!")
        };
        let end = memchr_iter(b'>', bytes).find(is_end);
        self.take(end.map_or(bytes.len(), |at| at + 1));
    }

    fn name(&mut self) -> &'a str {
        let is_end = |it: &u8| is_space(*it) || matches!(it, b'/' | b'>');
        let bytes = self.rest.as_bytes();
        let length = bytes.iter().position(is_end).unwrap_or(bytes.len());
        self.take(length)
    }

    /// Reads a tag from its name on. `None` if the page ends inside the tag; browsers ignore such a tag.
    fn tag(&mut self) -> Option<StartTag<'a>> {
        let name = self.name();
        let read = Attributes::read(self.rest);
        self.rest = read.map_or("", |(_, rest)| rest);
        let (attributes, _) = read?;
        Some(StartTag { tag: Tag::of(name), name, attributes })
    }
}

fn is_end_tag(after_slash: &str, name: &str) -> bool {
    let bytes = after_slash.as_bytes();
    bytes.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
        && bytes.get(name.len()).is_none_or(|it| is_space(*it) || matches!(it, b'/' | b'>'))
}

impl<'a> Iterator for Tokenizer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some((name, model)) = self.inside.take()
            && let Some(content) = self.content(name, model)
        {
            return Some(content);
        }
        loop {
            match self.rest.as_bytes() {
                [] => return None,
                [b'<', b'!', b'-', b'-', ..] => self.skip_comment(),
                [b'<', b'/', it, ..] if it.is_ascii_alphabetic() => {
                    self.take("</".len());
                    let end = self.tag()?;
                    return Some(Token::End(end.tag, end.name));
                }
                [b'<', b'!' | b'?', ..] | [b'<', b'/', _, ..] => self.skip_past(">"),
                [b'<', it, ..] if it.is_ascii_alphabetic() => {
                    self.take("<".len());
                    let start = self.tag()?;
                    let model = start.tag.content_model();
                    if model != ContentModel::Markup {
                        self.inside = Some((start.name, model));
                    }
                    return Some(Token::Start(start));
                }
                _ => return Some(self.text()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn tokens(page: &str) -> String {
        let words = Tokenizer::new(page).map(|token| match token {
            Token::Text(text) => format!("{text:?}"),
            Token::Verbatim(text) => format!("verbatim {text:?}"),
            Token::Start(start) => format!("<{}>", start.name),
            Token::End(_, name) => format!("</{name}>"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pages_are_tokenized_as_in_browsers() {
        for (page, wanted) in [
            ("a<B c='>'>d</B >e", r#""a" <B> "d" </B> "e""#),
            ("1 < 2 <3 << &lt;", r#""1 < 2 <3 << &lt;""#),
            ("<!DOCTYPE html><!-- <b> -->x<!--> y <!-- a --!>z", r#""x" " y " "z""#),
            ("<?xml a?><![CDATA[x]]>y</ z></>w", r#""y" "w""#),
            (
                "<script>if (a</b>c) '</scripty>'</SCRIPT>x",
                r#"<script> verbatim "if (a</b>c) '</scripty>'" </SCRIPT> "x""#,
            ),
            ("<title>a &amp; <b></title>", r#"<title> "a &amp; <b>" </title>"#),
            ("<style></style>x", r#"<style> </style> "x""#),
            ("<plaintext>a</plaintext><b>", r#"<plaintext> verbatim "a</plaintext><b>""#),
            ("x<a href='", r#""x""#),
            ("x<a", r#""x""#),
            ("x</a", r#""x""#),
            ("x<!-- a", r#""x""#),
            ("<script>a", r#"<script> verbatim "a""#),
            ("<", r#""<""#),
            ("</", r#""</""#),
            ("<!---->x<!--->y-->z", r#""x" "y-->z""#),
            ("<br/><img/>", "<br> <img>"),
        ] {
            assert_eq!(tokens(page), wanted, "{page}");
        }
    }
}
