//! Walks the directories of a workspace on several threads. Ignore rules are applied, and links are not
//! followed.
//!
//! A walk passes the files of a directory in small groups to a [`WalkVisitor`], and the visitor's
//! results to a [`Gather`]. It does not know what is searched for.

mod entry_judge;
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
mod walk_work;
mod walker;

#[cfg(all(test, unix))]
mod tests;

pub use entry_judge::{EntryJudge, IgnoredBy};
pub use listing::{Listing, ListingJudge, ListingRequest, list_folder};
pub use name_list::FileNames;
pub use pattern::{Depth, PathPattern, split_absolute};
pub use plan::WalkPlan;
pub use queue::{Gather, ResultOrder};
pub use rules::{Naming, RuleFiles, Rules, UnappliedRules};
pub use selection::{HiddenFiles, Selection};
pub use threads::{SearchThreads, SearchTurn};
pub use walker::{Cancelled, DirectoryWalk, Noticed, WalkVisitor, WalkedFiles};
