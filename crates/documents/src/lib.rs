//! Documents as text: PDFs, notebooks, images, and text files by pages.

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
