//! The index on systems that do not report every change before the system call that made it returns: none.
//! An index there could give stale answers.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_walk::{Listing, ListingRequest, WalkPlan};

use super::{IndexSettings, IndexStatus, IndexedFiles, SearchPlan, WhyCold};
use crate::{Query, Scope};

/// The index of one root.
#[derive(Debug)]
pub(super) struct RootIndex {
    root: PathBuf,
}

impl RootIndex {
    pub(super) fn new(root: PathBuf, _: Option<(PathBuf, PathBuf)>, _: IndexSettings) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn allow_memory(&self, _: usize) {}

    pub(super) fn want(self: &Arc<Self>) {}

    pub(super) fn close(&self) {}

    pub(super) fn status(&self) -> IndexStatus {
        IndexStatus::cold(&self.root, Some(WhyCold::NotLinux.to_string()))
    }

    pub(super) fn plan_search(&self, _: &Scope<'_>, _: &Query) -> Result<SearchPlan, WhyCold> {
        Err(WhyCold::NotLinux)
    }

    pub(super) fn plan_left_out(&self, _: &Scope<'_>) -> Result<WalkPlan, WhyCold> {
        Err(WhyCold::NotLinux)
    }

    pub(super) fn find_files(&self, _: &Scope<'_>, _: usize) -> Result<IndexedFiles, WhyCold> {
        Err(WhyCold::NotLinux)
    }

    pub(super) fn list(&self, _: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        Err(WhyCold::NotLinux)
    }
}
