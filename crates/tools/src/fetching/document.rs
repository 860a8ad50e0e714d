//! The kind of a fetched page: HTML, another text, a PDF or an image. PDFs and images are read like those in
//! files.

use toolwright_base::shortened;
use toolwright_documents::{
    ImageBlock, ImageError, MAX_PAGES_PER_READ, PageRange, PdfError, PdfText, image_mime,
    load_image, read_pdf,
};
use toolwright_page::{PageError, PageSelector, PageStyle, page_text};
use toolwright_web::{FetchedPage, decode_text};

/// The number of bytes of a body that are examined to decide whether it is text.
const SNIFFED_BYTES: usize = 8 * 1024;

/// A page in a form that a model can read.
#[derive(Debug)]
pub(super) enum FetchedDocument {
    Text(FetchedText),
    Image(ImageBlock),
}

/// The text of a page.
#[derive(Debug, Default)]
pub(super) struct FetchedText {
    pub(super) text: String,
    pub(super) title: Option<String>,
    pub(super) matches: Option<usize>,
    /// Notes about differences from the page.
    pub(super) notes: Vec<String>,
}

/// Why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("`{url}` is not text but `{media_type}` ({bytes} bytes), which cannot be shown")]
    Binary { url: String, media_type: String, bytes: usize },
    #[error("`{url}` is `{media_type}`; a selector can only be used on HTML, so leave it out")]
    SelectorWithoutHtml { url: String, media_type: String },
    #[error("`{url}`: {cause}")]
    Image { url: String, cause: ImageError },
    #[error("`{url}`: {cause}")]
    Pdf { url: String, cause: PdfError },
    #[error("`{url}` is a PDF of more than {bytes} bytes, of which only the beginning was fetched")]
    CutPdf { url: String, bytes: usize },
    #[error("{0}")]
    TooSlow(PageError),
    #[error("the call was cancelled")]
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FetchedKind {
    Html,
    Text,
    Pdf,
    Image,
    Binary,
}

/// Converts a fetched page to a document.
pub(super) fn read_document(
    page: &FetchedPage,
    style: PageStyle,
    selector: Option<&PageSelector>,
    cancelled: &dyn Fn() -> bool,
) -> Result<FetchedDocument, DocumentError> {
    let media_type = page.media_type();
    let kind = match kind_of(&media_type, &page.body) {
        FetchedKind::Html | FetchedKind::Text
            if is_data(page.content_type.as_deref(), &page.body) =>
        {
            FetchedKind::Binary
        }
        kind => kind,
    };
    let url = || page.url.to_string();
    if selector.is_some() && kind != FetchedKind::Html {
        let media_type = named_type(&media_type, &page.body);
        return Err(DocumentError::SelectorWithoutHtml { url: url(), media_type });
    }
    let mut text = match kind {
        FetchedKind::Image => {
            let image = load_image(&page.body)
                .map_err(|cause| DocumentError::Image { url: url(), cause })?;
            return Ok(FetchedDocument::Image(image));
        }
        FetchedKind::Binary => {
            let media_type = named_type(&media_type, &page.body);
            return Err(DocumentError::Binary { url: url(), media_type, bytes: page.body.len() });
        }
        FetchedKind::Pdf if page.was_cut => {
            return Err(DocumentError::CutPdf { url: url(), bytes: page.body.len() });
        }
        FetchedKind::Pdf => pdf_text(&page.body, cancelled).map_err(|cause| match cause {
            _ if cancelled() => DocumentError::Cancelled,
            cause => DocumentError::Pdf { url: url(), cause },
        })?,
        FetchedKind::Text => FetchedText { text: page.text().0, ..FetchedText::default() },
        FetchedKind::Html => html_text(page, style, selector, cancelled)?,
    };
    if page.was_cut {
        text.notes.insert(
            0,
            format!("only the first {} bytes were fetched, which is the limit", page.body.len()),
        );
    }
    Ok(FetchedDocument::Text(text))
}

fn html_text(
    page: &FetchedPage,
    style: PageStyle,
    selector: Option<&PageSelector>,
    cancelled: &dyn Fn() -> bool,
) -> Result<FetchedText, DocumentError> {
    let (html, _) = page.text();
    let reading =
        page_text(&html, &page.url, style, selector, cancelled).map_err(|error| match error {
            PageError::Cancelled => DocumentError::Cancelled,
            PageError::SelectorTooSlow { .. } => DocumentError::TooSlow(error),
        })?;
    let mut notes = reading.notes;
    match reading.matches {
        Some(0) => notes.insert(0, "the selector matches nothing on the page".to_owned()),
        Some(count) if reading.text.is_empty() => {
            notes.insert(0, format!("the selector matches {count} elements, which have no text"));
        }
        _ => {}
    }
    let text = match &reading.title {
        // With a selector, only the selected elements were requested.
        Some(title) if reading.matches.is_none() && !begins_with(&reading.text, title) => {
            let mark = if style == PageStyle::Markdown { "# " } else { "" };
            format!("{mark}{title}\n\n{}", reading.text).trim_end().to_owned()
        }
        _ => reading.text,
    };
    Ok(FetchedText { text, title: reading.title, matches: reading.matches, notes })
}

/// True if the first line of the text is the title.
fn begins_with(text: &str, title: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('#').trim() == title
}

fn pdf_text(bytes: &[u8], cancelled: &dyn Fn() -> bool) -> Result<FetchedText, PdfError> {
    let first_pages = PageRange { first: 1, last: MAX_PAGES_PER_READ };
    let PdfText { total_pages, pages } = read_pdf(bytes, Some(first_pages), cancelled)?;
    let mut text = String::new();
    for page in &pages {
        let body = match (page.text.trim_end(), &page.note) {
            ("", None) => "[no text on this page]".to_owned(),
            ("", Some(note)) => format!("[no readable text on this page: {note}]"),
            (text, None) => text.to_owned(),
            (text, Some(note)) => format!("{text}\n[{note}]"),
        };
        text.push_str(&format!("--- page {} of {total_pages} ---\n{body}\n", page.number));
    }
    let mut notes = Vec::new();
    if total_pages > MAX_PAGES_PER_READ {
        notes.push(format!(
            "the PDF has {total_pages} pages, of which the first {MAX_PAGES_PER_READ} were read; to read others, download it"
        ));
    }
    Ok(FetchedText { text, notes, ..FetchedText::default() })
}

/// Determines the kind of a body. Its first bytes take precedence over the server's media type.
fn kind_of(media_type: &str, body: &[u8]) -> FetchedKind {
    let head = body.get(..SNIFFED_BYTES).unwrap_or(body);
    if image_mime(head).is_some() {
        return FetchedKind::Image;
    }
    if head.starts_with(b"%PDF-") || media_type == "application/pdf" {
        return FetchedKind::Pdf;
    }
    let is_vague = matches!(
        media_type,
        "" | "application/octet-stream"
            | "binary/octet-stream"
            | "application/unknown"
            | "unknown/unknown"
    );
    match media_type {
        "text/html" | "application/xhtml+xml" => FetchedKind::Html,
        _ if is_vague && looks_like_html(head) => FetchedKind::Html,
        _ if is_text_type(media_type) || looks_like_text(head) => FetchedKind::Text,
        _ => FetchedKind::Binary,
    }
}

fn is_text_type(media_type: &str) -> bool {
    const TEXTS: [&str; 12] = [
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/typescript",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    ];
    let has_ending = ["+json", "+xml", "+yaml"].iter().any(|it| media_type.ends_with(it));
    media_type.starts_with("text/") || has_ending || TEXTS.contains(&media_type)
}

fn looks_like_html(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    text.starts_with("<!doctype html") || text.starts_with("<html")
}

/// Text contains no NUL and is UTF-8, except for a character that is cut at the end.
fn looks_like_text(head: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(cause) => cause.error_len().is_none(),
    };
    is_utf8 && !head.contains(&0)
}

/// True for programs, archives and other data, even if the server calls them text. About a tenth of such data
/// is control characters in any encoding, while text has almost none.
fn is_data(content_type: Option<&str>, body: &[u8]) -> bool {
    const SMALLEST: usize = 32;
    let head = body.get(..SNIFFED_BYTES).unwrap_or(body);
    let (text, _) = decode_text(head, content_type);
    // Escape and backspace occur in recordings of terminals.
    let is_control = |it: &char| it.is_ascii_control() && !matches!(it, '\x08'..='\r' | '\x1b');
    head.len() >= SMALLEST && text.chars().filter(is_control).count() > text.chars().count() / 32
}

/// The type for a message.
fn named_type(media_type: &str, body: &[u8]) -> String {
    match infer::get(body) {
        // Data that the server calls text has a wrong media type.
        Some(found)
            if media_type.is_empty()
                || media_type.ends_with("octet-stream")
                || is_text_type(media_type) =>
        {
            found.mime_type().to_owned()
        }
        None if is_text_type(media_type) && is_data(None, body) => {
            "application/octet-stream".to_owned()
        }
        _ if media_type.is_empty() => "application/octet-stream".to_owned(),
        _ => shortened(media_type, 100).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_first_bytes_take_precedence_over_the_media_type() {
        use FetchedKind::{Binary, Html, Image, Pdf, Text};
        const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";
        const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\xff\xfe";
        for (media_type, body, wanted) in [
            ("text/html", b"<p>x".as_slice(), Html),
            ("application/xhtml+xml", b"<p>x", Html),
            ("", b" <!DOCTYPE html><p>", Html),
            ("text/plain", b"<!doctype html>", Text),
            ("text/html", PNG, Image),
            ("application/octet-stream", b"%PDF-1.7", Pdf),
            ("application/pdf", b"x", Pdf),
            ("application/json", b"{}", Text),
            ("application/rss+xml", b"<rss>", Text),
            ("image/svg+xml", b"<svg>", Text),
            ("application/octet-stream", b"plain words", Text),
            ("application/vnd.own", b"plain words", Text),
            ("application/zip", ZIP, Binary),
            ("", ZIP, Binary),
            ("image/bmp", b"BM\0\0", Binary),
        ] {
            assert_eq!(kind_of(media_type, body), wanted, "{media_type} {body:?}");
        }
    }

    #[test]
    fn data_is_recognised_even_if_the_server_calls_it_text() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let scattered: Vec<u8> = (0..3_000_u32).map(|it| (it * 7_919).to_le_bytes()[0]).collect();
        for content_type in ["text/plain", "text/html; charset=utf-8", "application/javascript"] {
            assert!(is_data(Some(content_type), &program), "{content_type}");
            assert!(is_data(Some(content_type), &scattered), "{content_type}");
        }
        assert_eq!(named_type("text/plain", &scattered), "application/octet-stream");
        let text = "Это текст, который достаточно длинный. ".repeat(9);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(!is_data(Some("text/plain; charset=utf-16le"), &wide));
        assert!(!is_data(None, &[b"\xff\xfe".as_slice(), &wide].concat()));
        assert!(!is_data(None, text.as_bytes()));
        assert!(!is_data(None, b"<p>a stray \x01 in a page that is otherwise quite plain"));
        assert!(!is_data(None, &b"\x1b[31mred\x1b[0m\r\n".repeat(9)));
    }
}
