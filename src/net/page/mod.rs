//! Turns an HTML page into text that a model can read.
//!
//! `tokenizer` splits the page into tags and text, and `nesting` makes balanced elements of them. `writer`
//! writes these as Markdown or plain text; for a selector, `tree` collects them first and `selection` chooses.
//!
//! None of it calls itself, and all of it takes time and memory in proportion to the page. That is why no HTML
//! library does this: a page with 40,000 nested tags or 200,000 attributes takes those many seconds, or all of
//! the stack, and a stack that overflows ends the host.
//!
//! It must never know about tools, policy, sessions or connections.

mod attributes;
mod character_references;
mod nesting;
mod selection;
mod tag;
mod tokenizer;
mod tree;
mod writer;

use std::borrow::Cow;

use character_references::{Place, decoded};
use nesting::{MAX_DEPTH, ReadingEnd, read_elements};
pub use selection::{BadSelector, PageSelector};
use tree::MAX_ELEMENTS;
use url::Url;
pub use writer::PageStyle;
use writer::{MAX_TEXT_BYTES, PageWriter, WrittenPage};

/// The text of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct PageReading {
    /// The text.
    pub text: String,
    /// The title of the page, if it has one.
    pub title: Option<String>,
    /// How many elements a selector chose; `None` without a selector.
    pub matches: Option<usize>,
    /// What is not as it is on the page.
    pub notes: Vec<String>,
}

/// Why there is no text.
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

/// The text with character references such as `&amp;` replaced by what they stand for.
pub(in crate::net) fn without_character_references(text: &str) -> Cow<'_, str> {
    decoded(text, Place::Text)
}

/// Writes a page, or the part that a selector chooses, as text.
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
        notes.push(format!("the page sends its readers on to {onward}"));
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
