//! Walks the directories of a workspace on several threads. Ignore rules are applied, and links are not
//! followed.
//!
//! A walk passes the files of a directory in small groups to a [`WalkVisitor`], and the visitor's
//! results to a [`Gather`]. It does not know what is searched for.

mod entry;
mod folder;
mod listing;
mod name_list;
mod pattern;
mod queue;
mod rule_glob;
mod rule_lines;
mod rule_set;
mod rules;
mod selection;
mod threads;
mod tree_position;
mod visibility;
mod walk_work;
mod walker;

#[cfg(all(test, unix))]
mod tests;

pub use entry::EntryKind;
pub use folder::{Folder, ShortReads, open_named};
pub use listing::{Listed, Listing, ListingRequest, list_folder, look_at_names};
pub use name_list::FileNames;
pub use pattern::{Depth, PathPattern, PatternError, split_absolute};
pub use queue::{Gather, ResultOrder};
pub use rules::UnappliedRules;
pub use selection::{HiddenFiles, IgnoreRules, Selection, SelectionError};
pub use threads::{SearchThreads, SearchTurn};
pub use visibility::{Visibility, VisibilitySubject};
pub use walker::{Cancelled, DirectoryWalk, Noticed, WalkEnd, WalkVisitor, WalkedFiles};
