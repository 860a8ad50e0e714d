//! Turns the tags of a page into balanced elements: every element that starts also ends, in order.
//!
//! Pages omit end tags, and have end tags without a start tag. This does what browsers do in the cases that
//! affect the text. It keeps the open elements on an explicit stack instead of recursing, and limits the
//! depth, so that no page can make it slow or use much memory.

use super::{
    attributes::{Attributes, is_space},
    character_references::{ReferenceContext, decoded},
    tag::Tag,
    tokenizer::{StartTag, Token, Tokenizer},
};

/// The maximum depth of elements. Deeper elements become siblings: their text stays, in order.
pub(super) const MAX_DEPTH: usize = 256;

/// The number of tokens between two checks for cancellation.
const TOKENS_BETWEEN_CHECKS: usize = 1024;

/// Receives the elements of a page.
pub(super) trait ElementSink {
    /// An element starts.
    fn start(&mut self, element: &StartTag<'_>);
    /// The innermost open element ends.
    fn end(&mut self, tag: Tag);
    /// Text inside the innermost open element.
    fn text(&mut self, text: &str);
    /// True if no more input is needed.
    fn is_full(&self) -> bool;
}

/// How reading a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadingEnd {
    /// All of it was read.
    Complete {
        /// Whether elements were deeper than [`MAX_DEPTH`].
        was_flattened: bool,
    },
    /// It was cancelled.
    Cancelled,
}

/// Reads a page and passes its elements to `sink`.
pub(super) fn read_elements(
    page: &str,
    sink: &mut impl ElementSink,
    cancelled: &dyn Fn() -> bool,
) -> ReadingEnd {
    let mut nesting = OpenElements::new(sink);
    for (number, token) in Tokenizer::new(page).enumerate() {
        if number % TOKENS_BETWEEN_CHECKS == 0 {
            if cancelled() {
                return ReadingEnd::Cancelled;
            }
            if nesting.sink.is_full() {
                break;
            }
        }
        match token {
            Token::Text(text) => nesting.text(&decoded(text, ReferenceContext::Text)),
            Token::Verbatim(text) => nesting.sink.text(text),
            Token::Start(element) => nesting.start(&element),
            Token::End(tag, name) => nesting.end(tag, name),
        }
    }
    nesting.close_down_to(0);
    ReadingEnd::Complete { was_flattened: nesting.was_flattened }
}

#[derive(Clone, Copy)]
struct OpenElement<'a> {
    tag: Tag,
    name: &'a str,
}

impl OpenElement<'_> {
    fn is(&self, tag: Tag, name: &str) -> bool {
        self.tag == tag && (tag != Tag::Other || self.name.eq_ignore_ascii_case(name))
    }
}

struct OpenElements<'a, 's, S> {
    sink: &'s mut S,
    open: Vec<OpenElement<'a>>,
    /// The number of open elements of each tag.
    counts: [u16; Tag::COUNT],
    /// The number of open elements beyond the maximum depth.
    beyond: usize,
    was_flattened: bool,
    had_body: bool,
}

impl<'a, 's, S: ElementSink> OpenElements<'a, 's, S> {
    fn new(sink: &'s mut S) -> Self {
        Self {
            sink,
            open: Vec::new(),
            counts: [0; Tag::COUNT],
            beyond: 0,
            was_flattened: false,
            had_body: false,
        }
    }

    fn is_open(&self, tag: Tag) -> bool {
        self.counts.get(tag as usize).is_some_and(|it| *it > 0)
    }

    fn text(&mut self, text: &str) {
        if !text.bytes().all(is_space) {
            self.begin_body();
        }
        self.sink.text(text);
    }

    fn start(&mut self, element: &StartTag<'a>) {
        match element.tag {
            Tag::Html if self.is_open(Tag::Html) => return,
            Tag::Head if self.had_body || self.is_open(Tag::Head) => return,
            Tag::Body if self.had_body => return,
            Tag::Html => {}
            Tag::Head => self.imply(Tag::Html, "html"),
            Tag::Body => {
                self.close_head();
                self.imply(Tag::Html, "html");
                self.had_body = true;
            }
            tag if tag.belongs_in_head() && !self.had_body => {
                self.imply(Tag::Html, "html");
                if !self.is_open(Tag::Head) {
                    self.push(&implied(Tag::Head, "head"));
                }
            }
            _ => self.begin_body(),
        }
        self.close_before(element.tag);
        if element.tag == Tag::Tr && self.innermost() == Some(Tag::Table) {
            self.push(&implied(Tag::Tbody, "tbody"));
        }
        if element.tag.is_void() {
            self.sink.start(element);
            self.sink.end(element.tag);
        } else {
            self.push(element);
        }
    }

    fn end(&mut self, tag: Tag, name: &str) {
        if tag == Tag::Br {
            // Browsers treat `</br>` as `<br>`.
            self.sink.start(&implied(tag, "br"));
            self.sink.end(tag);
            return;
        }
        if tag.is_void() {
            return;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        // Content after them still belongs to the page.
        if matches!(tag, Tag::Body | Tag::Html) || !self.is_open(tag) {
            return;
        }
        let is_boundary =
            |it: Tag| if tag.is_block() { ends_scope(it, tag) } else { it.is_block() };
        for (depth, element) in self.open.iter().enumerate().rev() {
            if element.is(tag, name) {
                return self.close_down_to(depth);
            }
            if is_boundary(element.tag) {
                return;
            }
        }
    }

    fn innermost(&self) -> Option<Tag> {
        self.open.last().map(|it| it.tag)
    }

    fn imply(&mut self, tag: Tag, name: &'static str) {
        if !self.is_open(tag) {
            self.push(&implied(tag, name));
        }
    }

    fn close_head(&mut self) {
        if let Some(depth) = self.open.iter().position(|it| it.tag == Tag::Head) {
            self.close_down_to(depth);
        }
    }

    fn begin_body(&mut self) {
        if self.had_body
            || self.is_open(Tag::Title)
            || self.is_open(Tag::Noscript)
            || self.is_open(Tag::Template)
        {
            return;
        }
        self.close_head();
        self.imply(Tag::Html, "html");
        self.push(&implied(Tag::Body, "body"));
        self.had_body = true;
    }

    fn push(&mut self, element: &StartTag<'a>) {
        self.sink.start(element);
        if self.open.len() >= MAX_DEPTH {
            self.sink.end(element.tag);
            self.beyond += 1;
            self.was_flattened = true;
            return;
        }
        if let Some(count) = self.counts.get_mut(element.tag as usize) {
            *count += 1;
        }
        self.open.push(OpenElement { tag: element.tag, name: element.name });
    }

    fn close_down_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(element) = self.open.pop() else { return };
            if let Some(count) = self.counts.get_mut(element.tag as usize) {
                *count -= 1;
            }
            self.sink.end(element.tag);
        }
    }

    /// Closes open elements that cannot contain the element that is about to start.
    fn close_before(&mut self, tag: Tag) {
        if tag.is_block() && tag != Tag::Option && tag != Tag::Optgroup {
            self.close(&[Tag::P], |it| it == Tag::Button || ends_scope(it, Tag::P));
        }
        match tag {
            Tag::Li => self.close(&[Tag::Li], |it| {
                matches!(it, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir) || ends_scope(it, tag)
            }),
            Tag::Dt | Tag::Dd => {
                self.close(&[Tag::Dt, Tag::Dd], |it| it == Tag::Dl || ends_scope(it, tag));
            }
            Tag::Option => self.close(&[Tag::Option], |it| it == Tag::Select),
            Tag::Optgroup => self.close(&[Tag::Option, Tag::Optgroup], |it| it == Tag::Select),
            Tag::Td | Tag::Th => {
                self.close(&[Tag::Td, Tag::Th], |it| matches!(it, Tag::Tr | Tag::Table));
            }
            Tag::Tr => self.close(&[Tag::Tr], |it| {
                matches!(it, Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Table)
            }),
            Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Caption | Tag::Colgroup => self
                .close(&[Tag::Tbody, Tag::Thead, Tag::Tfoot, Tag::Caption, Tag::Colgroup], |it| {
                    it == Tag::Table
                }),
            Tag::A => self.close(&[Tag::A], Tag::is_block),
            _ => {}
        }
    }

    /// Closes the innermost element with one of these tags, and all elements inside it, unless a boundary
    /// element is nearer.
    fn close(&mut self, tags: &[Tag], is_boundary: impl Fn(Tag) -> bool) {
        if self.beyond > 0 || !tags.iter().any(|it| self.is_open(*it)) {
            return;
        }
        for (depth, element) in self.open.iter().enumerate().rev() {
            if tags.contains(&element.tag) {
                return self.close_down_to(depth);
            }
            if is_boundary(element.tag) {
                return;
            }
        }
    }
}

/// True for elements whose content cannot close an outer element `ended` by its end tag.
fn ends_scope(element: Tag, ended: Tag) -> bool {
    let is_part_of_table = matches!(
        ended,
        Tag::Table
            | Tag::Tbody
            | Tag::Thead
            | Tag::Tfoot
            | Tag::Tr
            | Tag::Td
            | Tag::Th
            | Tag::Caption
    );
    match element {
        Tag::Table | Tag::Template => true,
        Tag::Td | Tag::Th | Tag::Caption | Tag::Object => !is_part_of_table,
        _ => false,
    }
}

fn implied(tag: Tag, name: &'static str) -> StartTag<'static> {
    StartTag { tag, name, attributes: Attributes::default() }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[derive(Default)]
    struct ShownElements(String);

    impl ElementSink for ShownElements {
        fn start(&mut self, element: &StartTag<'_>) {
            self.0.push_str(&format!("<{}", element.name));
        }

        fn end(&mut self, _tag: Tag) {
            self.0.push('>');
        }

        fn text(&mut self, text: &str) {
            self.0.push_str(&format!("'{text}'"));
        }

        fn is_full(&self) -> bool {
            false
        }
    }

    fn nested(page: &str) -> String {
        let mut written = ShownElements::default();
        read_elements(page, &mut written, &|| false);
        written.0
    }

    #[test]
    fn missing_end_tags_are_inserted() {
        for (page, wanted) in [
            ("<p>a<p>b", "<html<body<p'a'><p'b'>>>"),
            (
                "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e",
                "<html<body<ul<li'a'><li'b'<ul<li'c'>>><li'd'>>'e'>>",
            ),
            ("<dl><dt>a<dd>b<dt>c</dl>", "<html<body<dl<dt'a'><dd'b'><dt'c'>>>>"),
            (
                "<table><tr><td>a<td>b<tr><td>c</table>",
                "<html<body<table<tbody<tr<td'a'><td'b'>><tr<td'c'>>>>>>",
            ),
            (
                "<table><thead><tr><th>a<tbody><tr><td>b",
                "<html<body<table<thead<tr<th'a'>>><tbody<tr<td'b'>>>>>>",
            ),
            ("<b>a</i>b</b>c</div>", "<html<body<b'a''b'>'c'>>"),
            ("<p>a<div>b</div>c</p>d", "<html<body<p'a'><div'b'>'c''d'>>"),
            ("<a href=1>a<a href=2>b</a>c", "<html<body<a'a'><a'b'>'c'>>"),
            (
                "<div><table><tr><td></div>a</table>b</div>",
                "<html<body<div<table<tbody<tr<td'a'>>>>'b'>>>",
            ),
            ("<title>t</title><p>x</html>y", "<html<head<title't'>><body<p'x''y'>>>"),
            (
                "<html><head><meta><body class=c><p>x</body></html>",
                "<html<head<meta>><body<p'x'>>>",
            ),
            ("<select><option>a<option>b</select>", "<html<body<select<option'a'><option'b'>>>>"),
            ("<x-y><x-z>a</x-y></x-z></x-y>", "<html<body<x-y<x-z'a'>>>>"),
            ("a</br>b", "<html<body'a'<br>'b'>>"),
            ("", ""),
        ] {
            assert_eq!(nested(page), wanted, "{page}");
        }
    }

    #[test]
    fn elements_that_are_too_deep_become_siblings() {
        let page = format!("{}x{}<p>y", "<div>".repeat(1000), "</div>".repeat(1000));
        let mut written = ShownElements::default();
        let end = read_elements(&page, &mut written, &|| false);
        assert_eq!(end, ReadingEnd::Complete { was_flattened: true });
        let mut depth = 0_usize;
        let mut deepest = 0;
        for sign in written.0.bytes() {
            depth = if sign == b'<' { depth + 1 } else { depth - usize::from(sign == b'>') };
            deepest = deepest.max(depth);
        }
        assert_eq!((depth, deepest), (0, MAX_DEPTH + 1));
        assert!(written.0.contains("'x'"));
        // After the divs, the page is at its top level again.
        assert!(written.0.ends_with("<p'y'>>>"), "{}", written.0);
    }

    #[test]
    fn a_cancelled_reading_stops() {
        let end = read_elements("<p>a", &mut ShownElements::default(), &|| true);
        assert_eq!(end, ReadingEnd::Cancelled);
    }
}
