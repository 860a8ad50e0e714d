//! Walks the directories of a workspace on several threads, by git's ignore rules. Links are not followed.
//!
//! A walk passes the files of a directory in small groups to a [`WalkVisitor`], and the visitor's results to
//! a [`Gather`]. It must not know policy or what is searched for: it opens only files with ignore rules.
//!
//! Why this is not part of `search`: finding files by name, listing a directory, searching text and building
//! the index all select the same files, but only two of them read text. Here the ignore rules can be tested
//! without any of that.
//!
//! The invariant: which files are visited depends on the rules, the [`Selection`] and the caller's
//! `Visibility`, never on the number of threads.
//!
//! Start at [`DirectoryWalk`], then [`Rules`] and [`Selection`].

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
