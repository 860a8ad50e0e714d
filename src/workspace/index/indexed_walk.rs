//! Plans the walk of a question: which files it visits, by what the index knows.

use super::{Candidates, WhyCold, WorkspaceIndex};
use crate::workspace::{
    search::{FoundFile, Query, Scope},
    walk::{Listing, ListingRequest, WalkPlan},
};

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

impl WorkspaceIndex {
    /// The files that can match a query.
    pub(crate) fn plan_search(
        &self,
        _scope: &Scope<'_>,
        _query: &Query,
    ) -> Result<SearchPlan, WhyCold> {
        Err(WhyCold::NotBuiltYet)
    }

    /// The files that would be selected if they were not ignored or hidden.
    pub(crate) fn plan_left_out(&self, _scope: &Scope<'_>) -> Result<WalkPlan, WhyCold> {
        Err(WhyCold::NotBuiltYet)
    }

    /// The selected files that were modified last, at most `limit`.
    pub(crate) fn find_files(
        &self,
        _scope: &Scope<'_>,
        _limit: usize,
    ) -> Result<IndexedFiles, WhyCold> {
        Err(WhyCold::NotBuiltYet)
    }

    /// The same listing as that of the directory itself.
    pub(crate) fn list(&self, _request: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        Err(WhyCold::NotBuiltYet)
    }
}
