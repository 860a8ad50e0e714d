//! Engines for the files of a workspace: reading, editing, searching. Tools are built on them. They must
//! never know about tools, JSON, policy or napi.

mod atomic;
mod diff;
mod file_lock;
#[cfg(unix)]
mod git_index;
pub(crate) mod image;
pub(crate) mod index;
mod line_ending;
mod lines;
mod not_absolute;
pub(crate) mod notebook;
mod path;
pub(crate) mod pdf;
#[cfg(unix)]
pub(crate) mod place_finder;
mod reader;
mod real_place;
pub(crate) mod search;
mod suggest;
mod text;
mod text_file;
mod text_replacement;
pub(crate) mod walk;

pub use atomic::Glimpse;
pub(crate) use atomic::{
    ConcurrentChanges, Expected, ForEdit, Glimpsed, InPlace, NotKept, Stamp, WriteError, Written,
    is_temporary_name, read_for_edit, remove_unchanged, write_atomically,
};
pub(crate) use diff::{Diff, DiffLimits, unified_diff};
pub use file_lock::FileLocks;
pub(crate) use file_lock::{LockError, Turn};
#[cfg(unix)]
pub(crate) use git_index::visit_tracked;
pub(crate) use image::{ImageBlock, ImageError, load_image};
pub use index::{IndexMode, IndexPhase, IndexPool, IndexSettings, IndexStatus, WorkspaceIndexes};
pub(crate) use line_ending::{LineEnding, LineEndings};
pub(crate) use lines::{LineWindow, WindowStyle, WindowText};
pub(crate) use notebook::{Notebook, NotebookError, NotebookPiece, read_notebook, render_cells};
pub use path::{PathError, RelativePaths, Roots, WorkspacePath};
pub(crate) use pdf::{PageRange, PdfError, PdfText, read_pdf};
pub use reader::SeenContent;
pub(crate) use reader::{
    FileDocument, FileReading, ReadError, ReadRequest, glimpse, read_document,
};
pub use real_place::real_place;
pub(crate) use text::TextEncoding;
pub(crate) use text_file::{MAX_TEXT_BYTES, TextFile, TextFileError, encode_new_file};
pub(crate) use text_replacement::{
    GivenUp, MAX_HITS, MatchStrategy, Matches, NEAREST_TEXT_BYTES, Overlaps, Replacement,
    TargetMatch, find_target, nearest_region, unique_by_line_hint,
};
pub use walk::{SearchThreads, Visibility};
