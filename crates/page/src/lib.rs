//! Converts an HTML page to text that a model can read.
//!
//! `tokenizer` splits the page into tags and text, and `nesting` turns these into balanced elements. `writer`
//! writes them as Markdown or plain text. For a selector, `tree` first collects the elements, and `selection`
//! chooses among them. This crate must not know tools, policy, sessions or connections.
//!
//! The invariant: nothing is recursive, and everything takes time and memory proportional to the page. This
//! is why no HTML library is used: those need many seconds or overflow the stack for a page with 40,000
//! nested tags or 200,000 attributes, and a stack overflow ends the host process.
//!
//! Start at [`page_text`].

mod attributes;
mod character_references;
mod nesting;
mod selection;
mod tag;
mod tokenizer;
mod tree;
mod writer;

use std::borrow::Cow;

use url::Url;

use character_references::{ReferenceContext, decoded};
use nesting::{MAX_DEPTH, ReadingEnd, read_elements};
use tree::MAX_ELEMENTS;
use writer::{MAX_TEXT_BYTES, PageWriter, WrittenPage};

pub use selection::PageSelector;
pub use writer::PageStyle;

/// The text of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct PageReading {
    /// The text.
    pub text: String,
    /// The title of the page, if it has one.
    pub title: Option<String>,
    /// The number of elements that the selector matched; `None` without a selector.
    pub matches: Option<usize>,
    /// Notes about differences from the page.
    pub notes: Vec<String>,
}

/// Why a page could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The work was cancelled.
    #[error("reading the page was cancelled")]
    Cancelled,
    /// The selector took too long.
    #[error("the selector `{selector}` takes too long on this page; use a simpler one")]
    SelectorTooSlow {
        /// The selector.
        selector: String,
    },
}

/// The text with character references such as `&amp;` decoded.
pub fn without_character_references(text: &str) -> Cow<'_, str> {
    decoded(text, ReferenceContext::Text)
}

/// Converts a page, or the part that a selector matches, to text.
pub fn page_text(
    page: &str,
    address: &Url,
    style: PageStyle,
    selector: Option<&PageSelector>,
    cancelled: &dyn Fn() -> bool,
) -> Result<PageReading, PageError> {
    let (written, matches, was_flattened) = if let Some(selector) = selector {
        let taken = selection::select(page, selector, style, address, cancelled)?;
        (taken.written, Some(taken.matches), taken.was_flattened)
    } else {
        let mut writer = PageWriter::new(style, address);
        let end = read_elements(page, &mut writer, cancelled);
        let ReadingEnd::Complete { was_flattened } = end else { return Err(PageError::Cancelled) };
        (writer.finish(), None, was_flattened)
    };
    let WrittenPage { text, title, onward, was_cut } = written;
    let mut notes = Vec::new();
    if let Some(onward) = onward.filter(|it| it != address.as_str()) {
        notes.push(format!("the page redirects to {onward}"));
    }
    if was_flattened {
        notes.push(format!(
            "the page nests elements deeper than {MAX_DEPTH}; deeper ones are shown without their structure"
        ));
    }
    if was_cut {
        notes.push(match matches {
            None => format!("the page is longer than {MAX_TEXT_BYTES} bytes of text; the rest is left out"),
            Some(_) => format!(
                "the page has more than {MAX_ELEMENTS} elements or too much text; the rest was not searched"
            ),
        });
    }
    Ok(PageReading { text, title, matches, notes })
}

#[cfg(test)]
mod tests;
