//! Engines for the files of a workspace: reading, editing, searching. Tools are built on them. They must
//! never know about tools, JSON, policy or napi.

mod atomic;
mod diff;
mod file_lock;
pub mod image;
mod line_ending;
mod lines;
pub mod notebook;
mod path;
pub mod pdf;
mod reader;
mod real_place;
pub mod search;
mod suggest;
mod text;
mod text_file;
mod text_replacement;
pub mod walk;

pub use atomic::{
    ConcurrentChanges, Expected, ForEdit, Glimpse, Glimpsed, InPlace, NotKept, Stamp, WriteError,
    Written, is_temporary_name, read_for_edit, remove_unchanged, write_atomically,
};
pub use diff::{Diff, DiffLimits, unified_diff};
pub use file_lock::{FileGuard, FileLocks, LockError, Turn};
pub use image::{ImageBlock, ImageError, load_image};
pub use line_ending::{LineEnding, LineEndings};
pub use lines::{LineWindow, WindowStyle, WindowText};
pub use notebook::{Notebook, NotebookError, NotebookPiece, read_notebook, render_cells};
pub use path::{PathError, RelativePaths, Roots, WorkspacePath};
pub use pdf::{PageRange, PdfError, PdfText, read_pdf};
pub use reader::{
    FileDocument, FileReading, ReadError, ReadRequest, SeenContent, glimpse, read_document,
};
pub use real_place::real_place;
pub use text::TextEncoding;
pub use text_file::{MAX_TEXT_BYTES, TextFile, TextFileError, encode_new_file};
pub use text_replacement::{
    GivenUp, IndentationShift, MAX_HITS, MatchStrategy, Matches, NEAREST_TEXT_BYTES, NearestRegion,
    Overlaps, Replacement, TargetMatch, TextEdit, find_target, nearest_region, unique_by_line_hint,
};
