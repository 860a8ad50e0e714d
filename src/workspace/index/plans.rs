//! What an index says a search has to do.

use super::Candidates;
use crate::workspace::{search::FoundFile, walk::WalkPlan};

/// The files that a search visits.
pub(crate) struct SearchPlan {
    /// Where they are.
    pub(crate) plan: WalkPlan,
    /// What is to be read of them.
    pub(crate) candidates: Candidates,
}

/// The files of a listing.
pub(crate) enum IndexedFiles {
    /// The most recently modified, and the number of all.
    All {
        /// The files, newest first.
        files: Vec<FoundFile>,
        /// How many there are.
        total: u64,
    },
    /// The index does not know all directories, so these have to be visited.
    Planned(WalkPlan),
}
