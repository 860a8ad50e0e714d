//! Reads the text of a PDF, page by page, with a limit on time and memory that holds for any file.
//!
//! `object_scan` finds where the objects of a file are, `object_reader` parses them with `lexer` on
//! demand, `decrypt` and `unpack` (with `filters`) return the data of their streams, and `page_tree`
//! lists the pages. `page_text` runs the drawing operators of a page and of its `annotations`;
//! `text_drawing` carries out those that show text. There `font` turns bytes into characters (with
//! `encoding`, `code_map` or `predefined_codes`) and `layout` puts them together into lines. Every
//! step is charged to the `budget`.
//!
//! This is not done by a PDF library because none has such a limit: they load the whole document,
//! where two bytes of an array become a hundred bytes of memory, allocate a predictor's `/Columns` as
//! written, and expand a `ToUnicode` range code by code, so that a file of a few kilobytes can take
//! gigabytes.
//!
//! It must never know about tools, policy, sessions or JSON, and it never touches the disk.

mod annotations;
mod budget;
mod code_map;
mod decrypt;
mod encoding;
mod filters;
mod font;
mod font_program;
mod layout;
mod lexer;
mod matrix;
mod object;
mod object_reader;
mod object_scan;
mod page_range;
mod page_text;
mod page_tree;
mod predefined_codes;
mod right_to_left;
mod standard_fonts;
#[cfg(test)]
mod test_pdf;
mod text_drawing;
mod text_string;
mod unpack;

use std::panic::{AssertUnwindSafe, catch_unwind};

use lexer::find;
use object_reader::ObjectReader;
use page_text::PageText;

pub use page_range::PageRange;

/// The most pages that can be read at once.
pub const MAX_PAGES_PER_READ: u32 = 20;
/// Documents with more pages than this can only be read with a page range.
pub(crate) const MAX_PAGES_WITHOUT_RANGE: u32 = 10;
/// The most text, in bytes, that is kept of one page.
pub(crate) const MAX_PAGE_TEXT: usize = 1024 * 1024;

/// The header may begin within this many bytes, as in other PDF readers.
const HEADER_WINDOW: usize = 1024;

/// The text of some or all pages of a PDF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfText {
    /// How many pages the document has.
    pub total_pages: u32,
    /// The pages asked for, in order.
    pub pages: Vec<PdfPage>,
}

/// The text of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfPage {
    /// The page's number, counted from 1.
    pub number: u32,
    /// The text, in the order in which the page draws it.
    pub text: String,
    /// What is missing from the text, if anything: it was cut, or some of it could not be decoded.
    pub note: Option<String>,
}

/// Why a PDF could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// There is no PDF header.
    #[error("not a PDF: no `%PDF-` within the first 1024 bytes; read the file as what it is")]
    NotAPdf,
    /// The document needs a password.
    #[error(
        "the PDF is encrypted and needs a password; decrypt it first, for example with `qpdf --decrypt`"
    )]
    Encrypted,
    /// The structure of the document cannot be read.
    #[error("the PDF is damaged: {0}; repair it first, for example with `qpdf in.pdf out.pdf`")]
    Damaged(&'static str),
    /// The document is too long to be read whole.
    #[error(
        "the PDF has {total} pages, more than {MAX_PAGES_WITHOUT_RANGE}; set pages, for example `1-{MAX_PAGES_WITHOUT_RANGE}`"
    )]
    PagesNeeded {
        /// How many pages the document has.
        total: u32,
    },
    /// The range is longer than one read allows.
    #[error(
        "pages `{first}-{last}` asks for {asked} pages; at most {MAX_PAGES_PER_READ} can be read at once"
    )]
    TooManyPages {
        /// The first page asked for.
        first: u32,
        /// The last page asked for.
        last: u32,
        /// How many pages that is.
        asked: u64,
    },
    /// The range starts after the last page, or is not a range.
    #[error(
        "pages `{first}-{last}` lies outside the document, which has {total} pages; choose pages within `1-{total}`"
    )]
    OutsideDocument {
        /// The first page asked for.
        first: u32,
        /// The last page asked for.
        last: u32,
        /// How many pages the document has.
        total: u32,
    },
    /// Reading the document would exceed a limit on time or memory.
    #[error("the PDF was refused: {0}; convert it to text by other means if you trust it")]
    TooComplex(&'static str),
    /// The caller asked to stop.
    #[error("reading the PDF was cancelled")]
    Cancelled,
    /// The reader panicked, which is a bug.
    #[error("the PDF reader crashed: {0}; the file is probably damaged")]
    Crashed(String),
}

/// Reads the text of a PDF, or of the pages in `range`.
///
/// A range that ends after the last page ends at the last page.
///
/// # Errors
/// Says what is wrong with the file or the range. A file that would take too much time or memory is
/// refused.
pub fn read_pdf(
    bytes: &[u8],
    range: Option<PageRange>,
    cancelled: &dyn Fn() -> bool,
) -> Result<PdfText, PdfError> {
    // Decompression and the ciphers are third-party code, and a panic must not reach the host.
    catch_unwind(AssertUnwindSafe(|| read(bytes, range, cancelled))).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned());
        Err(PdfError::Crashed(message.unwrap_or_else(|| "no message".to_owned())))
    })
}

fn read(
    bytes: &[u8],
    range: Option<PageRange>,
    cancelled: &dyn Fn() -> bool,
) -> Result<PdfText, PdfError> {
    let header = bytes.get(..HEADER_WINDOW).unwrap_or(bytes);
    if find(header, b"%PDF-", 0).is_none() {
        return Err(PdfError::NotAPdf);
    }
    if let Some(PageRange { first, last }) = range {
        let asked = range.map_or(0, PageRange::pages);
        if asked > u64::from(MAX_PAGES_PER_READ) {
            return Err(PdfError::TooManyPages { first, last, asked });
        }
    }
    let mut reader = ObjectReader::open(bytes, cancelled)?;
    let pages = reader.pages()?;
    let total = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let (first, last) = match range {
        None if total > MAX_PAGES_WITHOUT_RANGE => return Err(PdfError::PagesNeeded { total }),
        None => (1, total),
        Some(PageRange { first, last }) if first == 0 || first > total || last < first => {
            return Err(PdfError::OutsideDocument { first, last, total });
        }
        Some(PageRange { first, last }) => (first, last.min(total)),
    };
    let mut result = PdfText { total_pages: total, pages: Vec::new() };
    for (number, id) in (1..=total).zip(pages) {
        if number > last {
            break;
        }
        if number < first {
            continue;
        }
        if cancelled() {
            return Err(PdfError::Cancelled);
        }
        result.pages.push(PageText::of(&mut reader, number, id)?);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

    use std::cell::Cell;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::test_pdf::{deflate, document, pages, read_all, stream};
    use super::*;

    fn read_range(bytes: &[u8], first: u32, last: u32) -> Result<PdfText, PdfError> {
        read_pdf(bytes, Some(PageRange { first, last }), &|| false)
    }

    #[test]
    fn reads_all_pages_of_a_short_document() {
        let page = |number| PdfPage { number, text: format!("Page {number}"), note: None };
        let expected = PdfText { total_pages: 3, pages: vec![page(1), page(2), page(3)] };
        assert_eq!(read_all(&pages(3)), Ok(expected));
    }

    #[test]
    fn reads_the_pages_asked_for_and_cuts_the_range_at_the_end() {
        let numbers = |text: PdfText| text.pages.iter().map(|page| page.number).collect::<Vec<_>>();
        let bytes = pages(12);
        assert_eq!(numbers(read_range(&bytes, 3, 4).unwrap()), [3, 4]);
        assert_eq!(numbers(read_range(&bytes, 12, 31).unwrap()), [12]);
    }

    #[test]
    fn refuses_ranges_that_are_missing_too_long_or_outside() {
        let bytes = pages(12);
        assert_eq!(read_all(&bytes), Err(PdfError::PagesNeeded { total: 12 }));
        assert_eq!(
            read_range(&bytes, 1, 21),
            Err(PdfError::TooManyPages { first: 1, last: 21, asked: 21 })
        );
        let everything = PdfError::TooManyPages { first: 0, last: u32::MAX, asked: 1 << 32 };
        assert_eq!(read_range(&bytes, 0, u32::MAX), Err(everything));
        for (first, last) in [(13, 13), (0, 1), (5, 4)] {
            let expected = PdfError::OutsideDocument { first, last, total: 12 };
            assert_eq!(read_range(&bytes, first, last), Err(expected));
        }
    }

    #[test]
    fn says_when_a_file_is_no_pdf() {
        assert_eq!(read_all(b""), Err(PdfError::NotAPdf));
        assert_eq!(read_all(b"not a pdf\n"), Err(PdfError::NotAPdf));
        let mut late = vec![b' '; 2000];
        late.extend(pages(1));
        assert_eq!(read_all(&late), Err(PdfError::NotAPdf));
        assert_eq!(read_all(b"%PDF-1.4\n"), Err(PdfError::Damaged("it has no page tree")));
    }

    #[test]
    fn stops_between_pages_when_cancelled() {
        let asked = Cell::new(0);
        let cancelled = || asked.replace(asked.get() + 1) > 2;
        assert_eq!(read_pdf(&pages(9), None, &cancelled), Err(PdfError::Cancelled));
    }

    #[test]
    fn never_panics_on_a_file_cut_anywhere() {
        let bytes = pages(3);
        for length in 0..bytes.len() {
            match read_all(&bytes[..length]) {
                Ok(_) | Err(PdfError::NotAPdf | PdfError::Damaged(_)) => {}
                Err(other) => panic!("cut at {length}: {other}"),
            }
        }
    }

    proptest! {
        #[test]
        fn never_panics_on_noise_after_a_header(noise: Vec<u8>) {
            let mut bytes = b"%PDF-1.7\n".to_vec();
            bytes.extend(noise);
            let read = read_all(&bytes);
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }

        #[test]
        fn never_panics_on_a_damaged_file(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
            let mut bytes = document(&[stream("/Filter /FlateDecode", &deflate(b"BT /F1 9 Tf [(a) -300 (b)] TJ ET"))]);
            for (index, value) in changes {
                let index = index.index(bytes.len());
                bytes[index] = value;
            }
            let read = read_all(&bytes);
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }

        #[test]
        fn never_panics_on_any_content(content in "[ -~\n]{0,300}") {
            let read = read_all(&document(&[stream("", content.as_bytes())]));
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }
    }
}
