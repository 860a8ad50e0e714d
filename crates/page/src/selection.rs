//! Selects parts of a page with a CSS selector.

use std::time::{Duration, Instant};

use scraper::{ElementRef, Html, Node, Selector};
use url::Url;

use super::{
    PageError, PageStyle,
    nesting::{ReadingEnd, read_elements},
    tag::Tag,
    tree::TreeBuilder,
    writer::{PageWriter, WrittenPage},
};

/// The longest selector in bytes.
const MAX_SELECTOR_BYTES: usize = 1_000;
/// The maximum nesting of brackets in a selector. Its parser is recursive.
const MAX_SELECTOR_DEPTH: usize = 16;
/// The time limit of a search. Some selectors, such as `* ~ * ~ *`, compare every element with every other.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(10);

/// A parsed selector.
#[derive(Debug, Clone)]
pub struct PageSelector {
    text: String,
    selector: Selector,
}

/// Why a text is not a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSelector {
    /// It is empty.
    #[error("the selector is empty; write one such as `main p`, or leave it out")]
    Empty,
    /// It has too many characters.
    #[error("the selector has {0} bytes, more than {MAX_SELECTOR_BYTES}; write a shorter one")]
    TooLong(usize),
    /// It nests too deep.
    #[error("brackets of the selector nest deeper than {MAX_SELECTOR_DEPTH}; write a simpler one")]
    TooDeep,
    /// It is not CSS, or not supported.
    #[error("`{text}` is not a CSS selector that can be used: {}", place(.text, *.understood))]
    NotUnderstood {
        /// The selector.
        text: String,
        /// The number of bytes at its start that are a valid selector.
        understood: usize,
    },
}

fn place(text: &str, understood: usize) -> String {
    match text.get(..understood).map(str::trim_end) {
        None | Some("") => "it goes wrong at its beginning".to_owned(),
        Some(start) => {
            format!("it goes wrong after `{start}` (character {})", start.chars().count())
        }
    }
}

impl PageSelector {
    /// Parses a selector.
    pub fn parse(text: &str) -> Result<Self, BadSelector> {
        if text.trim().is_empty() {
            return Err(BadSelector::Empty);
        }
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(BadSelector::TooLong(text.len()));
        }
        let mut depth = 0_usize;
        for sign in text.chars() {
            match sign {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_SELECTOR_DEPTH {
                return Err(BadSelector::TooDeep);
            }
        }
        let Ok(selector) = Selector::parse(text) else {
            let is_selector =
                |end: &usize| text.get(..*end).is_some_and(|start| Selector::parse(start).is_ok());
            let understood = (0..text.len()).rev().find(is_selector).unwrap_or_default();
            return Err(BadSelector::NotUnderstood { text: text.to_owned(), understood });
        };
        Ok(Self { text: text.to_owned(), selector })
    }
}

/// The selected part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SelectedPage {
    pub(super) written: WrittenPage,
    /// The number of selected elements, not counting those inside other selected elements.
    pub(super) matches: usize,
    pub(super) was_flattened: bool,
}

/// Writes the elements that a selector matches, in page order.
pub(super) fn select(
    page: &str,
    selector: &PageSelector,
    style: PageStyle,
    address: &Url,
    cancelled: &dyn Fn() -> bool,
) -> Result<SelectedPage, PageError> {
    let mut builder = TreeBuilder::new();
    let end = read_elements(page, &mut builder, cancelled);
    let ReadingEnd::Complete { was_flattened } = end else { return Err(PageError::Cancelled) };
    let (tree, left_out) = builder.finish();
    let mut writer = PageWriter::new(style, address);
    if let Some(base) = base_of(&tree) {
        writer.set_base(&base);
    }
    let until = Instant::now() + MAX_SEARCH_TIME;
    let mut matches = 0;
    let mut next = tree.tree.root().first_child();
    while let Some(node) = next {
        if cancelled() {
            return Err(PageError::Cancelled);
        }
        if Instant::now() > until {
            return Err(PageError::SelectorTooSlow { selector: selector.text.clone() });
        }
        let selected = ElementRef::wrap(node).filter(|it| selector.selector.matches(it));
        let mut inner = node.first_child();
        if let Some(element) = selected {
            matches += 1;
            write_element(element, &mut writer);
            // Its content was written with it.
            inner = None;
        }
        next = inner.or_else(|| node.ancestors_and_itself_next());
    }
    let mut written = writer.finish();
    written.was_cut |= left_out;
    Ok(SelectedPage { written, matches, was_flattened })
}

/// The next node after this node and all its descendants.
trait FollowingNode: Sized {
    fn ancestors_and_itself_next(self) -> Option<Self>;
}

impl FollowingNode for ego_tree::NodeRef<'_, Node> {
    fn ancestors_and_itself_next(self) -> Option<Self> {
        let mut node = self;
        loop {
            if let Some(sibling) = node.next_sibling() {
                return Some(sibling);
            }
            node = node.parent()?;
        }
    }
}

fn base_of(tree: &Html) -> Option<String> {
    let is_base = |node: &ego_tree::NodeRef<'_, Node>| {
        node.value().as_element().is_some_and(|it| it.name() == "base")
    };
    let base = tree.tree.nodes().find(is_base)?;
    base.value().as_element()?.attr("href").map(str::to_owned)
}

/// Writes one element. It is written even if the page hides it, because it was selected explicitly.
fn write_element(root: ElementRef<'_>, writer: &mut PageWriter) {
    writer.separate();
    let root = *root;
    let mut node = root;
    loop {
        match node.value() {
            Node::Element(element) => {
                let tag = tag_of(element);
                if node == root {
                    writer.enter(as_shown(tag), element);
                } else {
                    writer.start_element(tag, element);
                }
            }
            Node::Text(text) => writer.write_text(text),
            _ => {}
        }
        if let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        loop {
            if let Node::Element(element) = node.value() {
                let tag = tag_of(element);
                writer.end_element(if node == root { as_shown(tag) } else { tag });
            }
            if node == root {
                writer.separate();
                return;
            }
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                break;
            }
            match node.parent() {
                Some(parent) => node = parent,
                None => return,
            }
        }
    }
}

fn tag_of(element: &scraper::node::Element) -> Tag {
    Tag::of(element.name())
}

/// Elements whose content is normally not shown are written as blocks.
fn as_shown(tag: Tag) -> Tag {
    match tag {
        Tag::Title => Tag::Div,
        Tag::Script | Tag::Style => Tag::Xmp,
        _ => tag,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use super::*;

    fn selected(page: &str, selector: &str) -> (String, usize) {
        let address = Url::parse("https://a.b/c/").unwrap();
        let selector = PageSelector::parse(selector).unwrap();
        let taken = select(page, &selector, PageStyle::Text, &address, &|| false).unwrap();
        (taken.written.text, taken.matches)
    }

    #[test]
    fn selected_elements_are_written_in_page_order() {
        let page = "<title>T</title><base href=/d/><ul id=l><li class='x y'>one<li>two <b>bold</b></ul>\
            <div class=x><p class=x>inner</p><a href=e>link</a></div><p hidden>secret</p>\
            <script type=application/json>{\"a\": 1}</script><table><tr><td>1<td>2</table>";
        for (selector, wanted, matches) in [
            (".x", "- one\n\ninner\n\nlink [https://a.b/d/e]", 2),
            ("p", "inner\n\nsecret", 2),
            ("li:nth-child(2)", "- two bold", 1),
            ("LI", "- one\n- two bold", 2),
            ("body > div a[href]", "link [https://a.b/d/e]", 1),
            ("table > tbody td", "1\n2", 2),
            ("title", "T", 1),
            ("script[type='application/json']", "{\"a\": 1}", 1),
            ("li:has(b), a", "- two bold\nlink [https://a.b/d/e]", 2),
            ("#l li:not(.x)", "- two bold", 1),
            ("h1", "", 0),
        ] {
            assert_eq!(selected(page, selector), (wanted.to_owned(), matches), "{selector}");
        }
    }

    #[test]
    fn the_error_for_a_bad_selector_names_the_position() {
        let message = |text: &str| PageSelector::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("div > > p"),
            "`div > > p` is not a CSS selector that can be used: it goes wrong after `div` (character 3)"
        );
        assert_eq!(
            message("!"),
            "`!` is not a CSS selector that can be used: it goes wrong at its beginning"
        );
        assert_eq!(
            message(" "),
            "the selector is empty; write one such as `main p`, or leave it out"
        );
        assert_eq!(PageSelector::parse(&":not(".repeat(100)).unwrap_err(), BadSelector::TooDeep);
        assert_eq!(PageSelector::parse(&"a".repeat(2000)).unwrap_err(), BadSelector::TooLong(2000));
        for bad in ["a:hover", "a::before", "p:contains('x')", "[", "a,,b", "@media"] {
            assert!(PageSelector::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn deep_and_wide_pages_are_searched() {
        let deep = format!("{}x", "<div>".repeat(40_000));
        assert_eq!(selected(&deep, "div div div").1, 1);
        let wide = "<i>x</i>".repeat(MAX_WIDE);
        assert_eq!(selected(&wide, "i:nth-child(2)"), ("x".to_owned(), 1));
        let attributes = format!("<p {}>x</p>", "a=b ".repeat(200_000));
        assert_eq!(selected(&attributes, "p[a]"), ("x".to_owned(), 1));
    }

    const MAX_WIDE: usize = 500;
}
