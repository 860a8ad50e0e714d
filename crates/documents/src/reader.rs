//! Reads one file as text, image, PDF or notebook, depending on its content.

use std::{
    fs::{File, FileType},
    io::{self, Read},
    path::Path,
};

use toolwright_base::path_to_text;
use toolwright_files::{
    BINARY_PROBE, Glimpse, LineWindow, SeenContent, TextEncoding, TextSink, Visibility,
    WindowBuilder, WindowText, WorkspacePath, close_names, decode_file, similar_names_note,
};

use super::{image::MAX_IMAGE_BYTES, notebook::MAX_NOTEBOOK_BYTES};
use crate::{
    image::{ImageBlock, ImageError, load_image},
    notebook::{Notebook, NotebookError, read_notebook},
    pdf::{PageRange, PdfError, PdfText, read_pdf},
};

/// The size of the largest PDF that is read.
const MAX_PDF_BYTES: u64 = 64 * 1024 * 1024;
/// The size of the largest file whose whole text is returned, in addition to the lines shown.
const MAX_REMEMBERED_BYTES: u64 = 256 * 1024;
/// The size of the largest text that is read to its end if the caller asked for certain lines.
const MAX_READ_ON_BYTES: u64 = 1024 * 1024;
/// The same if the caller did not say which lines: then the number of lines is more important.
const MAX_COUNTED_BYTES: u64 = 16 * 1024 * 1024;

/// Which part of a file to read.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// Which lines, if the file is text.
    pub window: LineWindow,
    /// Which pages, if the file is a PDF.
    pub pages: Option<PageRange>,
}

/// The result of reading a file.
#[derive(Debug)]
pub struct FileReading {
    /// The content that was asked for.
    pub document: FileDocument,
    /// The part of the file that was read, for the read ledger.
    pub seen: SeenContent,
    /// The whole text, if it is short enough to be remembered.
    pub text: Option<String>,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// The content of a file, by its kind.
#[derive(Debug)]
pub enum FileDocument {
    /// Lines of text.
    Text(WindowText, TextEncoding),
    /// An image.
    Image(ImageBlock),
    /// Pages of a PDF.
    Pdf(PdfText),
    /// Cells of a notebook.
    Notebook(Notebook),
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist.
    #[error("no file at `{path}`{}", similar_names_note(.suggestions))]
    NotFound {
        /// The path that was to be read.
        path: String,
        /// Similar names in the same directory.
        suggestions: Vec<String>,
    },
    /// Permission to read the file is denied.
    #[error("permission denied: `{0}`")]
    Permission(String),
    /// The path is not a file.
    #[error("`{path}` is {kind}, not a file{next_step}")]
    NotAFile {
        /// The path that was to be read.
        path: String,
        /// What it is instead, with an article.
        kind: &'static str,
        /// What to do instead, for the message.
        next_step: &'static str,
    },
    /// The content is binary.
    #[error(
        "`{path}` is a binary file ({kind}, {bytes} bytes); only text, images, PDFs and notebooks can be read"
    )]
    Binary {
        /// The path that was to be read.
        path: String,
        /// The type according to the content.
        kind: &'static str,
        /// The size of the file.
        bytes: u64,
    },
    /// The content does not match the name.
    #[error(
        "`{path}` has the name of {expected}, but its content is something else; rename it to read it"
    )]
    Mislabelled {
        /// The path that was to be read.
        path: String,
        /// The kind of file according to the name, with an article.
        expected: &'static str,
    },
    /// The file is too large to be read as what it is.
    #[error(
        "`{path}` has {bytes} bytes; {kind} of at most {limit} bytes can be read; split it with a command, or write it again with Write"
    )]
    TooLarge {
        /// The path that was to be read.
        path: String,
        /// The size of the file.
        bytes: u64,
        /// The kind of file, in the plural.
        kind: &'static str,
        /// The size of the largest file of that kind that can be read.
        limit: u64,
    },
    /// The image cannot be used.
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
    /// Another error of the system.
    #[error("`{0}` cannot be read: {1}")]
    Io(String, io::Error),
}

/// Reads a part of a file, and hashes what was read. If the file does not exist, the error suggests
/// similar names that are visible.
pub fn read_document(
    path: &WorkspacePath,
    request: &ReadRequest,
    visibility: &Visibility,
    cancelled: &dyn Fn() -> bool,
) -> Result<FileReading, ReadError> {
    let shown = path_to_text(path.absolute()).into_owned();
    let failed = |err: io::Error| match err.kind() {
        io::ErrorKind::NotFound => {
            ReadError::NotFound { suggestions: close_names(path, visibility), path: shown.clone() }
        }
        io::ErrorKind::PermissionDenied => ReadError::Permission(shown.clone()),
        io::ErrorKind::Interrupted => ReadError::Cancelled,
        _ => ReadError::Io(shown.clone(), err),
    };
    // Checked before it is opened, because merely opening a device can have an effect.
    refuse_other_kinds(path.absolute().symlink_metadata().map_err(failed)?.file_type(), &shown)?;
    let mut file = path.open().map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    refuse_other_kinds(metadata.file_type(), &shown)?;

    let mut head = Vec::with_capacity(BINARY_PROBE);
    (&mut file).take(BINARY_PROBE as u64).read_to_end(&mut head).map_err(failed)?;
    let source = Source { file, head, bytes: metadata.len(), shown: &shown };
    match kind_of(path.absolute(), &source.head) {
        DocumentKind::Image => source.image(),
        DocumentKind::NotAnImage => {
            Err(ReadError::Mislabelled { path: shown, expected: "an image" })
        }
        DocumentKind::Pdf => source.pdf(request, cancelled),
        DocumentKind::NotAPdf => Err(ReadError::Mislabelled { path: shown, expected: "a PDF" }),
        DocumentKind::Notebook => source.notebook(),
        DocumentKind::Binary(kind) => {
            Err(ReadError::Binary { path: shown, kind, bytes: metadata.len() })
        }
        DocumentKind::Text => source.text(request, cancelled).map_err(failed),
    }
}

impl ReadError {
    /// Whether the error is about content that was read but cannot be shown, so that reading it again would
    /// not give more information.
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

/// A record of a file whose content cannot be shown, to find out later whether it has changed.
pub fn glimpse(path: &WorkspacePath) -> io::Result<SeenContent> {
    let mut file = path.open()?;
    let mut head = Vec::with_capacity(BINARY_PROBE);
    (&mut file).take(BINARY_PROBE as u64).read_to_end(&mut head)?;
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

enum DocumentKind {
    Text,
    Image,
    NotAnImage,
    Pdf,
    NotAPdf,
    Notebook,
    Binary(&'static str),
}

fn kind_of(path: &Path, head: &[u8]) -> DocumentKind {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_lowercase();
    if super::image::image_mime(head).is_some() {
        return DocumentKind::Image;
    }
    if head.starts_with(b"%PDF-") {
        return DocumentKind::Pdf;
    }
    match extension.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => return DocumentKind::NotAnImage,
        // Some programs write a few bytes before the header. The parser decides.
        "pdf" if memchr::memmem::find(head, b"%PDF-").is_some() => return DocumentKind::Pdf,
        "pdf" => return DocumentKind::NotAPdf,
        "ipynb" => return DocumentKind::Notebook,
        _ => {}
    }
    let has_bom = encoding_rs::Encoding::for_bom(head).is_some();
    if !has_bom && memchr::memchr(0, head).is_some() {
        return DocumentKind::Binary(binary_type(head));
    }
    DocumentKind::Text
}

fn binary_type(head: &[u8]) -> &'static str {
    // Old Office files, installers or mail. The first bytes are the same for all of them.
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
    fn image(self) -> Result<FileReading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("images", MAX_IMAGE_BYTES as u64)?;
        let image = load_image(&bytes).map_err(|err| ReadError::Image(shown.to_owned(), err))?;
        let (document, bytes) = (FileDocument::Image(image), bytes.len() as u64);
        Ok(FileReading { document, seen: SeenContent::Whole(hash), text: None, bytes })
    }

    fn pdf(
        self,
        request: &ReadRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileReading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("PDFs", MAX_PDF_BYTES)?;
        let pdf = read_pdf(&bytes, request.pages, cancelled)
            .map_err(|err| ReadError::Pdf(shown.to_owned(), err))?;
        let (document, bytes) = (FileDocument::Pdf(pdf), bytes.len() as u64);
        Ok(FileReading { document, seen: SeenContent::Whole(hash), text: None, bytes })
    }

    fn notebook(self) -> Result<FileReading, ReadError> {
        let shown = self.shown;
        let (bytes, hash) = self.load("notebooks", MAX_NOTEBOOK_BYTES as u64)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let notebook =
            read_notebook(text).map_err(|err| ReadError::Notebook(shown.to_owned(), err))?;
        let text = (bytes.len() as u64 <= MAX_REMEMBERED_BYTES).then(|| text.to_owned());
        let document = FileDocument::Notebook(notebook);
        let seen = SeenContent::Whole(hash);
        Ok(FileReading { document, seen, text, bytes: bytes.len() as u64 })
    }

    fn text(
        mut self,
        request: &ReadRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> io::Result<FileReading> {
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
        let pass = decode_file(&mut self.file, &self.head, self.bytes, &mut shown, cancelled)?;
        let ShownText { builder, kept, .. } = shown;
        let (window, seen) = if pass.is_whole {
            (builder.finish(), SeenContent::Whole(pass.hash))
        } else {
            let glimpse = Glimpse::of(&self.file, pass.bytes, pass.hash)?;
            (builder.finish_early(), SeenContent::Beginning(glimpse))
        };
        let document = FileDocument::Text(window, pass.encoding);
        let text = kept.filter(|_| pass.is_whole);
        let bytes = if pass.is_whole { pass.bytes } else { self.bytes };
        Ok(FileReading { document, seen, text, bytes })
    }

    /// Reads all bytes. Fails if there are too many, also if the file grows beyond the limit
    /// meanwhile.
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

/// Collects the part of a text that is shown, and the whole text if it is short.
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
