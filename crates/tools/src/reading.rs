//! Reads a file for the tools `Read`, `read_file`, `read_many_files` and `file-reader`.
//!
//! They share the limits of an answer, the notes about what was left out, and the entry in the read ledger that
//! later allows the file to be edited.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use toolwright_base::{Access, DataScope, ErrorKind, ToolError, shown_path};
use toolwright_core::{CallPlan, Content, ForModel as _, ToolContext, ToolOutput};
use toolwright_documents::{
    FileDocument, FileReading, NotebookPiece, PageRange, PdfText, ReadError, ReadRequest, glimpse,
    read_document, render_cells,
};
use toolwright_files::{
    LineWindow, RelativePaths, SeenContent, TextEncoding, WindowStyle, WindowText, WorkspacePath,
};

use crate::failures::FailedRead;

/// The number of lines that an answer shows if the call does not ask for a number.
const MAX_LINES: u64 = 2_000;
/// The number of bytes that an answer shows at most.
pub(super) const MAX_BYTES: usize = 256 * 1024;
/// The number of characters that are shown of a numbered line.
const MAX_LINE_CHARS: usize = 2_000;

/// The facts about a file that was read, and about the part that is shown.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileFacts {
    path: String,
    /// The size of the file, in bytes.
    bytes: u64,
    #[serde(flatten)]
    content: ContentFacts,
}

/// The facts about the content. Which of them are set depends on the type of the file.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ContentFacts {
    /// Of a text: its encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// Of a text: the number of its lines, if all were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    /// Of a text: the first line shown, or 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    /// Of a text: the last line shown, or 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<u64>,
    /// Of a text: whether all of it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// Of an image: its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// Of a PDF: the number of its pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_pages: Option<u32>,
    /// Of a notebook: the number of its cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
}

/// A file to read, and which part of it.
#[derive(Debug)]
pub(super) struct FileToRead {
    pub(super) path: WorkspacePath,
    pub(super) first: Option<u64>,
    pub(super) last: Option<u64>,
    pub(super) pages: Option<PageRange>,
    pub(super) wording: ReadingWording,
}

/// A range of lines of a file, for tools that show the text unchanged.
pub(super) fn lines_of(
    path: &str,
    start_line: Option<u64>,
    end_line: Option<u64>,
    cx: &ToolContext,
) -> Result<FileToRead, ToolError> {
    if let (Some(start), Some(end)) = (start_line, end_line)
        && start > end
    {
        return Err(ToolError::new(
            ErrorKind::Validation,
            format!(
                "parameter `endLine`: expected at least `startLine`, which is {start}, got `{end}`"
            ),
        ));
    }
    Ok(FileToRead {
        path: cx.session.resolve_for_reading(path, RelativePaths::FromFirstRoot).for_model()?,
        first: start_line,
        last: end_line,
        pages: None,
        wording: RAW,
    })
}

/// How a tool shows lines, and how its notes name parameters and other tools.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadingWording {
    pub(super) style: WindowStyle,
    /// The parameter that says where to continue.
    pub(super) next: &'static str,
    /// The tools that show the rest of a line that was cut.
    pub(super) see_rest: &'static str,
    /// Whether an answer that ends at the requested line still says how many lines follow.
    pub(super) mentions_rest: bool,
}

/// The wording of `Read`.
pub(super) const NUMBERED: ReadingWording = ReadingWording {
    style: WindowStyle::Numbered,
    next: "offset",
    see_rest: "Grep (`-o`) or Bash (`cut -c`)",
    mentions_rest: true,
};
/// The wording of `read_file` and `read_many_files`.
pub(super) const RAW: ReadingWording = ReadingWording {
    style: WindowStyle::Raw,
    next: "startLine",
    see_rest: "shell (`cut -c`)",
    mentions_rest: false,
};

impl CallPlan for FileToRead {
    type Output = FileFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.path.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        let path = shown_path(self.path.absolute());
        match (self.first, self.last, self.pages) {
            (_, _, Some(PageRange { first, last })) if first == last => {
                format!("Read {path} (page {first})")
            }
            (_, _, Some(PageRange { first, last })) => {
                format!("Read {path} (pages {first}-{last})")
            }
            (None, None, None) => format!("Read {path}"),
            (first, Some(last), None) => {
                format!("Read {path} (lines {}-{last})", first.unwrap_or(1))
            }
            (Some(first), None, None) => format!("Read {path} (from line {first})"),
        }
    }

    /// Reads the file, and records in the read ledger what the model has seen of it.
    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<FileFacts>, ToolError> {
        let ledger_path = self.path.absolute().to_owned();
        let wording = self.wording;
        let (first, last) = (self.first, self.last);
        let session = Arc::clone(&cx.session);
        let visibility = cx.visibility.clone();
        let mut reading = cx
            .blocking(move |cancel| {
                let request = ReadRequest {
                    window: LineWindow {
                        first: first.unwrap_or(1).max(1),
                        last,
                        max_lines: MAX_LINES,
                        max_bytes: MAX_BYTES,
                        max_line_chars: MAX_LINE_CHARS,
                        style: wording.style,
                    },
                    pages: self.pages,
                };
                let cancelled = || cancel.is_cancelled();
                let read = read_document(&self.path, &request, &visibility, &cancelled);
                // An error that says what the file is counts as reading it: the model may overwrite the self.
                if read.as_ref().is_err_and(ReadError::shows_all_there_is)
                    && let Ok(seen) = glimpse(&self.path)
                {
                    session.ledger.record(self.path.absolute().to_owned(), seen);
                }
                Ok(read.map_err(FailedRead)?)
            })
            .await?;
        if let (Some(text), SeenContent::Whole(hash)) = (reading.text.take(), &reading.seen) {
            cx.session.shared.files.seen_texts.remember(*hash, &text);
        }
        cx.session.ledger.record(ledger_path.clone(), reading.seen.clone());
        let shown = shown_path(&ledger_path);
        Ok(present(reading, &shown, wording, first.unwrap_or(1).max(1)))
    }
}

fn present(
    reading: FileReading,
    path: &str,
    wording: ReadingWording,
    first: u64,
) -> ToolOutput<FileFacts> {
    let (output, content) = match reading.document {
        FileDocument::Text(window, encoding) => {
            let complete = window.first <= 1
                && !window.has_more
                && window.last == window.total_lines
                && !window.capped
                && window.long_lines == 0;
            let facts = ContentFacts {
                encoding: Some(encoding.label()),
                total_lines: (!window.has_more).then_some(window.total_lines),
                first_line: Some(window.first),
                last_line: Some(window.last),
                complete: Some(complete),
                ..ContentFacts::default()
            };
            (present_text(window, encoding, (path, reading.bytes), wording, first), facts)
        }
        FileDocument::Image(image) => {
            let mime_type = Some(image.mime.to_owned());
            let facts = ContentFacts { mime_type, ..ContentFacts::default() };
            let display = format!("Read image {path} ({}×{})", image.width, image.height);
            let content =
                vec![Content::Image { data: image.base64, mime_type: image.mime.to_owned() }];
            (ToolOutput { content, ..ToolOutput::default() }.with_display(display), facts)
        }
        FileDocument::Pdf(pdf) => {
            let total_pages = Some(pdf.total_pages);
            (present_pdf(&pdf, path), ContentFacts { total_pages, ..ContentFacts::default() })
        }
        FileDocument::Notebook(notebook) => {
            let cells = Some(notebook.total_cells);
            let content = render_cells(&notebook).into_iter().map(|piece| match piece {
                NotebookPiece::Text(text) => Content::text(text),
                NotebookPiece::Image { mime, base64 } => {
                    Content::Image { data: base64, mime_type: mime.to_owned() }
                }
            });
            let display = format!("Read notebook {path} ({} cells)", notebook.total_cells);
            let content = content.collect();
            let output = ToolOutput { content, ..ToolOutput::default() }.with_display(display);
            (output, ContentFacts { cells, ..ContentFacts::default() })
        }
    };
    let facts = FileFacts { path: path.to_owned(), bytes: reading.bytes, content };
    let mut output: ToolOutput<FileFacts> = output;
    output.meta.insert("toolwright/file".to_owned(), json!(facts));
    output.with_data(facts)
}

fn present_text(
    window: WindowText,
    encoding: TextEncoding,
    (path, bytes): (&str, u64),
    wording: ReadingWording,
    first: u64,
) -> ToolOutput<FileFacts> {
    let total = window.total_lines;
    let mut notes: Vec<String> = Vec::new();
    if total == 0 {
        notes.push("the file is empty".to_owned());
    } else if window.last == 0 {
        notes.push(format!(
            "{} {first} is past the end: the file has {}",
            wording.next,
            lines(total)
        ));
    }
    if window.partial_line {
        notes.push(format!("line {} is cut: it is longer than one answer may be", window.last));
    }
    let continues = window.has_more || window.last < total;
    if window.last != 0 && continues && (window.capped || wording.mentions_rest) {
        let (first, last, next) = (window.first, window.last, wording.next);
        let total = if window.has_more {
            format!("more than {last} ({bytes} bytes in all)")
        } else {
            total.to_string()
        };
        notes.push(format!(
            "lines {first}-{last} of {total} are shown; continue with {next} {}",
            last + 1
        ));
    }
    if window.long_lines > 0 {
        let (what, are) = if window.long_lines == 1 {
            ("1 line".to_owned(), "is")
        } else {
            (lines(window.long_lines), "are")
        };
        notes.push(format!(
            "{what} longer than {MAX_LINE_CHARS} characters {are} cut; see the rest with {}",
            wording.see_rest
        ));
    }
    if !encoding.is_plain_utf8() {
        notes.push(format!("the file is encoded in {}", encoding.label()));
    }
    let display = format!(
        "Read {} of {path}",
        lines(if window.last == 0 { 0 } else { window.last + 1 - window.first })
    );
    let mut content = Vec::new();
    // Raw text is exact, so an empty file is an empty text. Numbered lines need a note instead.
    if window.last != 0 || matches!(wording.style, WindowStyle::Raw) {
        content.push(Content::text(window.text));
        if !wording.mentions_rest && total == 0 {
            notes.clear();
        }
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    ToolOutput { content, ..ToolOutput::default() }.with_display(display)
}

fn present_pdf(pdf: &PdfText, path: &str) -> ToolOutput<FileFacts> {
    let mut text = String::new();
    let mut left_out = None;
    for page in &pdf.pages {
        let body = match (page.text.trim_end(), &page.note) {
            ("", None) => "[no text on this page]\n".to_owned(),
            ("", Some(note)) => format!("[no readable text on this page: {note}]\n"),
            (text, None) => format!("{text}\n"),
            (text, Some(note)) => format!("{text}\n[{note}]\n"),
        };
        let entry = format!("--- page {} of {} ---\n{body}", page.number, pdf.total_pages);
        if !text.is_empty() && text.len() + entry.len() > MAX_BYTES {
            left_out = Some(page.number);
            break;
        }
        text.push_str(&entry);
    }
    let mut content = vec![Content::text(text)];
    if let (Some(from), Some(last)) = (left_out, pdf.pages.last()) {
        content.push(Content::text(format!(
            "[pages {from}-{} did not fit; read them with pages \"{from}-{}\"]",
            last.number, last.number
        )));
    }
    let display = format!("Read {} pages of {path}", pdf.pages.len());
    ToolOutput { content, ..ToolOutput::default() }.with_display(display)
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
