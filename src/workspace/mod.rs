//! Engines for the files of a workspace. They know nothing of JSON, policy or napi.

pub mod image;
mod lines;
pub mod notebook;
mod path;
pub mod pdf;
mod reader;
mod suggest;
mod text;

pub use image::{ImageBlock, ImageError, load_image};
pub use lines::{LineWindow, WindowStyle, WindowText};
pub use notebook::{Notebook, NotebookError, Piece, read_notebook, render_cells};
pub use path::{PathError, RelativePaths, Roots, WorkspacePath};
pub use pdf::{PageRange, PdfError, PdfText, read_pdf};
pub use reader::{Document, ReadError, ReadRequest, Reading, read_document};
pub use text::TextEncoding;
