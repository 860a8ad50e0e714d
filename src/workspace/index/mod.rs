//! The index of a workspace: which files there are, and which of them can contain what a search looks for.
//!
//! A search without an index reads every file. With it, a search reads the few files that can match, and a
//! listing reads no directory. The answers are the same, byte for byte: what the index knows is only used to
//! leave out work, and files are read when they are asked for.
//!
//! The promise: every change completed by a system call on a file's name below the root is in the next
//! answer; a change through another hard link that is not (or no longer) in the tree within 30 seconds of
//! use; asynchronous writes (`io_submit`) when the file is closed; stores to mapped memory when it is
//! unmapped. This holds on Linux, for local file systems; elsewhere every search is cold.
//!
//! Whoever asks first drains what the kernel has queued about changes, looks at what changed, and only then
//! answers. A file that has changed since it was learned is searched as if nothing were known of it.
//!
//! A search never waits for building: while there is no index, or none that can be trusted, it goes the cold
//! way. It must never know about tools, JSON, policy or napi.

mod candidates;
#[cfg(all(test, target_os = "linux"))]
mod differential_tests;
#[cfg(target_os = "linux")]
mod entry_table;
#[cfg(target_os = "linux")]
mod event_queue;
mod file_number;
#[cfg(target_os = "linux")]
mod file_set;
#[cfg(target_os = "linux")]
mod file_stamp;
#[cfg(target_os = "linux")]
mod folder_reading;
#[cfg(target_os = "linux")]
mod gram_formula;
#[cfg(target_os = "linux")]
mod gram_numbers;
#[cfg(target_os = "linux")]
mod grams;
#[cfg(target_os = "linux")]
mod hard_links;
#[cfg(target_os = "linux")]
mod indexed_listing;
#[cfg(target_os = "linux")]
mod indexed_walk;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod learner;
#[cfg(target_os = "linux")]
mod need;
#[cfg(target_os = "linux")]
mod needed_grams;
#[cfg(target_os = "linux")]
mod new_names;
mod plans;
mod pool;
#[cfg(target_os = "linux")]
mod ready_index;
#[cfg(target_os = "linux")]
mod reconcile;
#[cfg(target_os = "linux")]
mod root_check;
#[cfg(target_os = "linux")]
mod root_index;
#[cfg(not(target_os = "linux"))]
#[path = "no_index.rs"]
mod root_index;
#[cfg(target_os = "linux")]
mod scan;
#[cfg(target_os = "linux")]
mod setting_files;
#[cfg(target_os = "linux")]
mod signatures;
#[cfg(target_os = "linux")]
mod slice_block;
#[cfg(target_os = "linux")]
mod slices;
mod status;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod texts;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod tree_walk;
mod why_cold;

pub(crate) use candidates::{Candidates, SearchedPart};
pub(crate) use file_number::EntryNumber;
pub(crate) use plans::{IndexedFiles, SearchPlan};
pub use pool::IndexPool;
pub use status::{IndexPhase, IndexStatus};
pub(crate) use why_cold::WhyCold;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use {
    need::Need,
    signatures::{Kept, Signatures},
    texts::LearnedFile,
};

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use self::root_index::RootIndex;
use super::{
    search::{Query, Scope},
    walk::{Listing, ListingRequest, WalkPlan},
};

/// A cold search that takes longer than this is worth an index.
const WORTH_AN_INDEX: Duration = Duration::from_millis(100);

/// When an index is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// After a cold search that took long.
    #[default]
    Auto,
    /// As soon as the registry is used.
    On,
    /// Never.
    Off,
}

/// When an index is built, and how much memory it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    /// When it is built.
    pub mode: IndexMode,
    /// The most bytes of memory for one root.
    pub max_memory: usize,
}

impl IndexSettings {
    /// How much memory the index of a root takes at most, unless the host says otherwise.
    pub const DEFAULT_MAX_MEMORY: usize = 128 * 1024 * 1024;

    /// No index.
    pub const OFF: Self = Self { mode: IndexMode::Off, max_memory: Self::DEFAULT_MAX_MEMORY };
}

/// The indexes of the roots of one registry.
#[derive(Debug)]
pub struct WorkspaceIndexes {
    mode: IndexMode,
    roots: Vec<PathBuf>,
    /// Empty when the registry is closed, and without an index.
    open: Mutex<Vec<WorkspaceIndex>>,
}

impl Default for WorkspaceIndexes {
    fn default() -> Self {
        Self { mode: IndexMode::Off, roots: Vec::new(), open: Mutex::default() }
    }
}

impl WorkspaceIndexes {
    /// The indexes of these roots, which other registries of the pool may have too. `global_excludes` is the
    /// file of the user's own ignore rules.
    pub(crate) fn new(
        pool: &IndexPool,
        roots: &[PathBuf],
        global_excludes: Option<&Path>,
        settings: IndexSettings,
    ) -> Self {
        let open = match settings.mode {
            IndexMode::Off => Vec::new(),
            IndexMode::Auto | IndexMode::On => {
                // The user's rules are relative to the first root, whatever root is searched.
                let excludes = global_excludes.zip(roots.first().map(PathBuf::as_path));
                let open = |root: &PathBuf| pool.open(root, excludes, settings);
                roots.iter().map(open).collect()
            }
        };
        Self { mode: settings.mode, roots: roots.to_vec(), open: Mutex::new(open) }
    }

    /// The index of a root.
    pub(crate) fn of(&self, root: &Path) -> Option<WorkspaceIndex> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().find(|it| it.handle.index.root() == root).cloned()
    }

    /// Begins to build what a host wants to have from the beginning.
    pub fn begin(&self) {
        if self.mode == IndexMode::On {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
            open.iter().for_each(WorkspaceIndex::want);
        }
    }

    /// How the index of each root stands.
    pub fn status(&self) -> Vec<IndexStatus> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if open.is_empty() {
            return self.roots.iter().map(|root| IndexStatus::off(root)).collect();
        }
        open.iter().map(|it| it.handle.index.status()).collect()
    }

    /// Lets go of the indexes. One that no other registry has is freed.
    pub fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        drop(open);
    }
}

/// The index of one root, as long as somebody has it.
#[derive(Clone, Debug)]
pub(crate) struct WorkspaceIndex {
    handle: Arc<IndexHandle>,
}

/// What all users of an index share. The thread that builds it has the index alone, and ends with this.
#[derive(Debug)]
struct IndexHandle {
    index: Arc<RootIndex>,
}

impl Drop for IndexHandle {
    fn drop(&mut self) {
        self.index.close();
    }
}

impl WorkspaceIndex {
    /// Has the index built, unless it is.
    pub(crate) fn want(&self) {
        self.handle.index.want();
    }

    /// The files that can match a query.
    pub(crate) fn plan_search(
        &self,
        scope: &Scope<'_>,
        query: &Query,
    ) -> Result<SearchPlan, WhyCold> {
        self.handle.index.plan_search(scope, query)
    }

    /// The files that would be selected if they were not ignored or hidden.
    pub(crate) fn plan_left_out(&self, scope: &Scope<'_>) -> Result<WalkPlan, WhyCold> {
        self.handle.index.plan_left_out(scope)
    }

    /// The selected files that were modified last, at most `limit`.
    pub(crate) fn find_files(
        &self,
        scope: &Scope<'_>,
        limit: usize,
    ) -> Result<IndexedFiles, WhyCold> {
        self.handle.index.find_files(scope, limit)
    }

    /// The same listing as that of the directory itself.
    pub(crate) fn list(&self, request: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        self.handle.index.list(request)
    }

    /// Takes note of how long a cold search took.
    pub(crate) fn note_cold_search(&self, took: Duration) {
        if took > WORTH_AN_INDEX {
            self.want();
        }
    }
}
