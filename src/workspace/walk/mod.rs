//! Walks the directories of a workspace: in parallel, by the ignore rules, without following links.
//!
//! A walk hands the files of a directory to a [`Visitor`], in small groups, and what the visitor makes
//! of them to a [`Gather`]. It knows nothing of what is searched for.

mod entry;
mod folder;
mod listing;
mod names;
mod pattern;
mod position;
mod queue;
mod rule_glob;
mod rule_lines;
mod rule_set;
mod rules;
mod selection;
mod threads;
mod visibility;
mod walker;
mod work;

#[cfg(all(test, unix))]
mod tests;

pub use entry::EntryKind;
pub use folder::{Folder, ShortReads, open_named};
pub use listing::{Listed, Listing, ListingRequest, list_folder, look_at_names};
pub use names::FileNames;
pub use pattern::{Depth, PathPattern, PatternError, split_absolute};
pub use queue::{Gather, Order};
pub use rules::UnappliedRules;
pub use selection::{HiddenFiles, IgnoreRules, Selection, SelectionError};
pub use threads::{SearchThreads, SearchTurn};
pub use visibility::{Subject, Visibility};
pub use walker::{Cancelled, Noticed, Taken, Visitor, Walk, WalkEnd};
