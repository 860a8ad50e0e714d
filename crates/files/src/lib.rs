//! The files of a workspace: which paths are inside it, how text is read and decoded, and how a file is
//! changed so that a crash leaves the old or the new content.
//!
//! It must not know tools, policy or sessions. What policy hides is passed in as a [`Visibility`].
//!
//! The invariant: a path is resolved once, to a [`WorkspacePath`] below one of the [`Roots`], and the file is
//! opened by the resolved path. On Linux, replacing a directory with a link in between has no effect.
//!
//! Start at [`Roots`] for paths, and at [`read_for_edit`] and [`write_atomically`] for changes.

mod atomic;
mod diff;
mod entry;
mod file_lock;
mod folder;
mod git_index;
mod line_ending;
mod lines;
mod not_absolute;
mod path;
mod real_place;
mod seen_content;
mod suggest;
mod text;
mod text_file;
mod text_replacement;
mod visibility;

pub use atomic::{
    ConcurrentChanges, Expected, ForEdit, Glimpse, Glimpsed, InPlace, NotKept, Stamp, WriteError,
    Written, is_temporary_name, read_for_edit, remove_unchanged, write_atomically,
};
pub use diff::{Diff, DiffLimits, unified_diff};
pub use entry::{EntryBuffer, EntryKind};
pub use file_lock::{FileLocks, LockError, Turn};
pub use folder::{Folder, ShortReads, is_local_file_system, open_named, system_time};
pub use git_index::visit_tracked;
pub use lines::{LineWindow, WindowBuilder, WindowStyle, WindowText};
pub use path::{PathError, RelativePaths, Roots, WorkspacePath};
pub use real_place::real_place;
pub use seen_content::SeenContent;
pub use suggest::{close_names, similar_names_note};
pub use text::{BINARY_PROBE, TextEncoding, TextSink, decode_file};
pub use text_file::{MAX_TEXT_BYTES, TextFile, TextFileError, encode_new_file};
pub use text_replacement::{
    GivenUp, MAX_HITS, MatchStrategy, Matches, NEAREST_TEXT_BYTES, Overlaps, Replacement,
    TargetMatch, find_target, nearest_region, unique_by_line_hint,
};
pub use visibility::{Visibility, VisibilitySubject};
