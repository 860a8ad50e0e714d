//! Reads files for a model: text by pages, PDFs, notebooks and images.
//!
//! It must not know tools, policy or sessions.
//!
//! The invariant: reading takes limited time and memory, even for a file that was made to use up both.
//!
//! Start at [`read_document`], which chooses the reader by the content of the file.

mod image;
mod notebook;
mod pdf;
mod reader;

pub use image::{ImageBlock, ImageError, image_mime, load_image};
pub use notebook::{
    CellEdit, CellKind, NotebookEditError, NotebookPiece, edit_notebook, render_cells,
};
pub use pdf::{MAX_PAGES_PER_READ, PageRange, PdfError, PdfText, read_pdf};
pub use reader::{FileDocument, FileReading, ReadError, ReadRequest, glimpse, read_document};
