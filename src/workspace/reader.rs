//! Reads one file, whatever it is: text, image, PDF or notebook, told apart by content.

use std::{
    fs::{File, FileType},
    io::{self, Read},
    path::Path,
};

use crate::path_text::path_to_text;

use super::{
    Glimpse, ImageBlock, ImageError, LineWindow, Notebook, NotebookError, PageRange, PdfError,
    PdfText, TextEncoding, WindowText, WorkspacePath,
    image::MAX_IMAGE_BYTES,
    lines::WindowBuilder,
    load_image,
    notebook::MAX_NOTEBOOK_BYTES,
    read_notebook, read_pdf, suggest,
    text::{self, TextSink},
    walk::Visibility,
};

/// The largest PDF that is taken apart.
const MAX_PDF_BYTES: u64 = 64 * 1024 * 1024;
/// The largest file whose text is handed on as a whole.
const MAX_REMEMBERED_BYTES: u64 = 256 * 1024;
/// The largest text that is read to its end though only the lines that were asked for are shown.
const MAX_READ_ON_BYTES: u64 = 1024 * 1024;
/// The same for a text of which nobody said how much to show: how many lines it has is worth more then.
const MAX_COUNTED_BYTES: u64 = 16 * 1024 * 1024;

/// What is wanted of a file.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// Which lines, if it is text.
    pub window: LineWindow,
    /// Which pages, if it is a PDF.
    pub pages: Option<PageRange>,
}

/// What was found.
#[derive(Debug)]
pub struct Reading {
    /// The content.
    pub document: Document,
    /// What of the file was looked at.
    pub seen: SeenContent,
    /// The whole text, where it is short enough to be remembered.
    pub text: Option<String>,
    /// The size of the file.
    pub bytes: u64,
}

/// What tells later whether a file still is what was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenContent {
    /// All of it: the hash of its bytes.
    Whole(blake3::Hash),
    /// Its beginning.
    Beginning(Glimpse),
}

/// The content of a file.
#[derive(Debug)]
pub enum Document {
    /// Lines of text.
    Text(WindowText, TextEncoding),
    /// A picture.
    Image(ImageBlock),
    /// Pages of a PDF.
    Pdf(PdfText),
    /// Cells of a notebook.
    Notebook(Notebook),
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing is there.
    #[error("no file at `{path}`{}", did_you_mean(.suggestions))]
    NotFound {
        /// Where.
        path: String,
        /// What is there with a close name.
        suggestions: Vec<String>,
    },
    /// The system refused.
    #[error("permission denied: `{0}`")]
    Permission(String),
    /// Something else than a file is there.
    #[error("`{path}` is {kind}, not a file{next_step}")]
    NotAFile {
        /// Where.
        path: String,
        /// What it is.
        kind: &'static str,
        /// What to do instead.
        next_step: &'static str,
    },
    /// The content is no text.
    #[error(
        "`{path}` is a binary file ({kind}, {bytes} bytes); only text, images, PDFs and notebooks can be read"
    )]
    Binary {
        /// Where.
        path: String,
        /// The type by content.
        kind: &'static str,
        /// Its size.
        bytes: u64,
    },
    /// The content is not what the name says.
    #[error(
        "`{path}` is named like {expected} but its content is not one; rename it to read it as what it is"
    )]
    Mislabelled {
        /// Where.
        path: String,
        /// What the name says.
        expected: &'static str,
    },
    /// The file is too large for its kind.
    #[error(
        "`{path}` has {bytes} bytes; {kind} of at most {limit} bytes can be read; take it apart with a command, or write it anew with Write"
    )]
    TooLarge {
        /// Where.
        path: String,
        /// Its size.
        bytes: u64,
        /// What it is.
        kind: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The picture cannot be shown.
    #[error("`{0}`: {1}")]
    Image(String, ImageError),
    /// The PDF cannot be read.
    #[error("`{0}`: {1}")]
    Pdf(String, PdfError),
    /// The notebook cannot be read.
    #[error("`{0}`: {1}")]
    Notebook(String, NotebookError),
    /// The read was cancelled.
    #[error("the read was cancelled")]
    Cancelled,
    /// The system failed.
    #[error("`{0}` cannot be read: {1}")]
    Io(String, io::Error),
}

pub(super) fn did_you_mean(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    let names: Vec<_> = suggestions.iter().map(|it| format!("`{it}`")).collect();
    format!("; beside it are {}", names.join(", "))
}

/// Reads what is asked for, and the hash of all. Where nothing is, other files are suggested, as far as
/// they may be seen.
pub fn read_document(
    path: &WorkspacePath,
    request: &ReadRequest,
    visibility: &Visibility,
    cancelled: &dyn Fn() -> bool,
) -> Result<Reading, ReadError> {
    let shown = path_to_text(path.absolute()).into_owned();
    let failed = |err: io::Error| match err.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound {
            suggestions: suggest::close_names(path, visibility),
            path: shown.clone(),
        },
        io::ErrorKind::PermissionDenied => ReadError::Permission(shown.clone()),
        io::ErrorKind::Interrupted => ReadError::Cancelled,
        _ => ReadError::Io(shown.clone(), err),
    };
    // Looked at before it is opened: opening a device can already do something.
    refuse_other_kinds(path.absolute().symlink_metadata().map_err(failed)?.file_type(), &shown)?;
    let mut file = path.open().map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    refuse_other_kinds(metadata.file_type(), &shown)?;

    let mut head = Vec::with_capacity(text::BINARY_PROBE);
    (&mut file).take(text::BINARY_PROBE as u64).read_to_end(&mut head).map_err(failed)?;
    let source = Source { file, head, bytes: metadata.len(), shown: &shown };
    match kind_of(path.absolute(), &source.head) {
        Kind::Image => source.image(),
        Kind::NotAnImage => Err(ReadError::Mislabelled { path: shown, expected: "an image" }),
        Kind::Pdf => source.pdf(request, cancelled),
        Kind::NotAPdf => Err(ReadError::Mislabelled { path: shown, expected: "a PDF" }),
        Kind::Notebook => source.notebook(),
        Kind::Binary(kind) => Err(ReadError::Binary { path: shown, kind, bytes: metadata.len() }),
        Kind::Text => source.text(request, cancelled).map_err(failed),
    }
}

impl ReadError {
    /// True when the content was looked at and cannot be shown: there is no more to learn about it.
    pub fn shows_all_there_is(&self) -> bool {
        matches!(
            self,
            Self::Binary { .. }
                | Self::Mislabelled { .. }
                | Self::TooLarge { .. }
                | Self::Image(..)
                | Self::Pdf(..)
                | Self::Notebook(..)
        )
    }
}

/// What tells later that a file whose content cannot be shown still is the same.
pub fn glimpse(path: &WorkspacePath) -> io::Result<SeenContent> {
    let mut file = path.open()?;
    let mut head = Vec::with_capacity(text::BINARY_PROBE);
    (&mut file).take(text::BINARY_PROBE as u64).read_to_end(&mut head)?;
    Ok(SeenContent::Beginning(Glimpse::of(&file, head.len() as u64, blake3::hash(&head))?))
}

fn refuse_other_kinds(file_type: FileType, path: &str) -> Result<(), ReadError> {
    #[cfg(unix)]
    use std::os::unix::fs::FileTypeExt as _;

    if file_type.is_file() {
        return Ok(());
    }
    let (kind, next_step) = if file_type.is_dir() {
        ("a directory", "; list it with Glob, ls or Bash")
    } else if file_type.is_symlink() {
        ("a symbolic link that appeared while it was read", "; try again")
    } else {
        #[cfg(unix)]
        let kind = if file_type.is_fifo() {
            "a FIFO"
        } else if file_type.is_socket() {
            "a socket"
        } else {
            "a device"
        };
        #[cfg(not(unix))]
        let kind = "a special file";
        (kind, "")
    };
    Err(ReadError::NotAFile { path: path.to_owned(), kind, next_step })
}

enum Kind {
    Text,
    Image,
    NotAnImage,
    Pdf,
    NotAPdf,
    Notebook,
    Binary(&'static str),
}

fn kind_of(path: &Path, head: &[u8]) -> Kind {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_lowercase();
    if super::image::image_mime(head).is_some() {
        return Kind::Image;
    }
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match extension.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => return Kind::NotAnImage,
        // Some writers put a few bytes before the header; the parser decides.
        "pdf" if memchr::memmem::find(head, b"%PDF-").is_some() => return Kind::Pdf,
        "pdf" => return Kind::NotAPdf,
        "ipynb" => return Kind::Notebook,
        _ => {}
    }
    let has_bom = encoding_rs::Encoding::for_bom(head).is_some();
    if !has_bom && memchr::memchr(0, head).is_some() {
        return Kind::Binary(binary_type(head));
    }
    Kind::Text
}

fn binary_type(head: &[u8]) -> &'static str {
    // Old Office files, installers, mail: which of them is told by parts that are not at the beginning.
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return "application/x-ole-storage";
    }
    infer::get(head).map_or("application/octet-stream", |it| it.mime_type())
}

struct Source<'a> {
    file: File,
    head: Vec<u8>,
    bytes: u64,
    shown: &'a str,
}

impl Source<'_> {
    fn image(self) -> Result<Reading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("images", MAX_IMAGE_BYTES as u64)?;
        let image = load_image(&bytes).map_err(|err| ReadError::Image(shown.to_owned(), err))?;
        let (document, bytes) = (Document::Image(image), bytes.len() as u64);
        Ok(Reading { document, seen: SeenContent::Whole(hash), text: None, bytes })
    }

    fn pdf(
        self,
        request: &ReadRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("PDFs", MAX_PDF_BYTES)?;
        let pdf = read_pdf(&bytes, request.pages, cancelled)
            .map_err(|err| ReadError::Pdf(shown.to_owned(), err))?;
        let (document, bytes) = (Document::Pdf(pdf), bytes.len() as u64);
        Ok(Reading { document, seen: SeenContent::Whole(hash), text: None, bytes })
    }

    fn notebook(self) -> Result<Reading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("notebooks", MAX_NOTEBOOK_BYTES as u64)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let notebook =
            read_notebook(text).map_err(|err| ReadError::Notebook(shown.to_owned(), err))?;
        let text = (bytes.len() as u64 <= MAX_REMEMBERED_BYTES).then(|| text.to_owned());
        let document = Document::Notebook(notebook);
        let seen = SeenContent::Whole(hash);
        Ok(Reading { document, seen, text, bytes: bytes.len() as u64 })
    }

    fn text(mut self, request: &ReadRequest, cancelled: &dyn Fn() -> bool) -> io::Result<Reading> {
        let read_to_end = match request.window.last {
            Some(_) => MAX_READ_ON_BYTES,
            None => MAX_COUNTED_BYTES,
        };
        let mut shown = ShownText {
            window: request.window,
            builder: WindowBuilder::new(request.window),
            kept: (self.bytes <= MAX_REMEMBERED_BYTES).then(String::new),
            needs_all: self.bytes <= read_to_end,
        };
        let pass =
            text::decode_file(&mut self.file, &self.head, self.bytes, &mut shown, cancelled)?;
        let ShownText { builder, kept, .. } = shown;
        let (window, seen) = if pass.is_whole {
            (builder.finish(), SeenContent::Whole(pass.hash))
        } else {
            let glimpse = Glimpse::of(&self.file, pass.bytes, pass.hash)?;
            (builder.finish_early(), SeenContent::Beginning(glimpse))
        };
        let document = Document::Text(window, pass.encoding);
        let text = kept.filter(|_| pass.is_whole);
        let bytes = if pass.is_whole { pass.bytes } else { self.bytes };
        Ok(Reading { document, seen, text, bytes })
    }

    /// All bytes, unless there are too many; a file that grows meanwhile is cut off, not followed.
    fn load(
        mut self,
        kind: &'static str,
        limit: u64,
    ) -> Result<(Vec<u8>, blake3::Hash), ReadError> {
        let too_large =
            |bytes| ReadError::TooLarge { path: self.shown.to_owned(), bytes, kind, limit };
        if self.bytes > limit {
            return Err(too_large(self.bytes));
        }
        let mut bytes = std::mem::take(&mut self.head);
        let room = (limit + 1).saturating_sub(bytes.len() as u64);
        (&mut self.file)
            .take(room)
            .read_to_end(&mut bytes)
            .map_err(|err| ReadError::Io(self.shown.to_owned(), err))?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        let hash = blake3::hash(&bytes);
        Ok((bytes, hash))
    }
}

/// The part of a text that is shown, and all of a short one.
struct ShownText {
    window: LineWindow,
    builder: WindowBuilder,
    kept: Option<String>,
    needs_all: bool,
}

impl TextSink for ShownText {
    fn push(&mut self, piece: &str) {
        self.builder.push(piece);
        if let Some(kept) = &mut self.kept {
            kept.push_str(piece);
        }
    }

    fn restart(&mut self) {
        self.builder = WindowBuilder::new(self.window);
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    fn has_enough(&self) -> bool {
        !self.needs_all && self.builder.is_satisfied()
    }
}
