//! Walks the directories of a workspace on several threads. Ignore rules are applied, and links are not
//! followed.
//!
//! A walk passes the files of a directory in small groups to a [`WalkVisitor`], and the visitor's
//! results to a [`Gather`]. It does not know what is searched for.

mod entry;
mod entry_judge;
mod folder;
mod listing;
mod name_list;
mod pattern;
mod plan;
mod queue;
mod rule_glob;
mod rule_lines;
mod rule_set;
mod rule_sources;
mod rules;
mod selection;
mod threads;
mod tree_position;
mod visibility;
mod walk_work;
mod walker;

#[cfg(all(test, unix))]
mod tests;

pub(crate) use entry::{EntryBuffer, EntryKind};
pub(crate) use entry_judge::{EntryJudge, IgnoredBy};
pub(crate) use folder::{Folder, ShortReads, open_named};
#[cfg(target_os = "linux")]
pub(crate) use folder::{is_local_file_system, system_time};
pub(crate) use listing::{Listing, ListingJudge, ListingRequest, list_folder, look_at_names};
pub(crate) use name_list::FileNames;
pub(crate) use pattern::{Depth, PathPattern, split_absolute};
pub(crate) use plan::WalkPlan;
pub(crate) use queue::{Gather, ResultOrder};
pub(crate) use rules::{Naming, RuleFiles, Rules, UnappliedRules};
pub(crate) use selection::{HiddenFiles, Selection};
pub use threads::SearchThreads;
pub(crate) use threads::SearchTurn;
pub use visibility::Visibility;
pub(crate) use visibility::VisibilitySubject;
pub(crate) use walker::{Cancelled, DirectoryWalk, Noticed, WalkVisitor, WalkedFiles};
