//! The work that an index leaves to a search.

use toolwright_walk::WalkPlan;

use super::Candidates;
use crate::FoundFile;

/// The files that a search visits.
pub(crate) struct SearchPlan {
    /// Where they are.
    pub(crate) plan: WalkPlan,
    /// The parts of them to read.
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
    /// The index does not know the content of all directories, so these have to be visited.
    Planned(WalkPlan),
}
