//! The index of a workspace: which files exist, and which of them can match a search.
//!
//! A search without an index reads every file. With an index, a search reads only the few files
//! that can match, and a listing reads no directory. The answers are the same, byte for byte: the
//! index is only used to skip work, and the content always comes from the files.
//!
//! The promise: every change that a system call made through a name below the root is in the next
//! answer. A change through a hard link that is not, or no longer, in the tree is found within 30
//! seconds of use. Asynchronous writes (`io_submit`) are found when the file is closed, and stores
//! to mapped memory when it is unmapped. This holds on Linux, for local file systems. Elsewhere
//! every search is cold.
//!
//! Each request first drains the kernel's queue of changes, checks the files that changed, and only
//! then answers. A file that has changed since it was learned is searched as if it were unknown.
//!
//! A search never waits for the index to be built. While there is no index, or none that can be
//! trusted, the search is cold: it reads every file. The index must not know about tools, JSON,
//! policy or napi.

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
#[cfg(not(target_os = "linux"))]
mod no_index;
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

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use toolwright_walk::{Listing, ListingRequest, WalkPlan};

#[cfg(not(target_os = "linux"))]
use self::no_index::RootIndex;
#[cfg(target_os = "linux")]
use self::root_index::RootIndex;
use crate::{Query, Scope};

pub(crate) use candidates::{Candidates, SearchedPart};
pub(crate) use file_number::EntryNumber;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use need::Need;
pub(crate) use plans::{IndexedFiles, SearchPlan};
pub use pool::IndexPool;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use signatures::{Kept, Signatures};
pub use status::{IndexPhase, IndexStatus};
#[cfg(all(test, target_os = "linux"))]
pub(crate) use texts::LearnedFile;
pub use why_cold::WhyCold;

/// A cold search that takes longer than this starts the building of an index.
const WORTH_AN_INDEX: Duration = Duration::from_millis(100);

/// When an index is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// After a slow cold search.
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
    /// The most memory for one root, in bytes.
    pub max_memory: usize,
}

impl IndexSettings {
    /// The default of `max_memory`.
    pub const DEFAULT_MAX_MEMORY: usize = 128 * 1024 * 1024;

    /// No index.
    pub const OFF: Self = Self { mode: IndexMode::Off, max_memory: Self::DEFAULT_MAX_MEMORY };
}

/// The indexes of the roots of one registry.
#[derive(Debug)]
pub struct WorkspaceIndexes {
    mode: IndexMode,
    roots: Vec<PathBuf>,
    /// Empty when the registry is closed, or if it has no index.
    open: Mutex<Vec<WorkspaceIndex>>,
}

impl Default for WorkspaceIndexes {
    fn default() -> Self {
        Self { mode: IndexMode::Off, roots: Vec::new(), open: Mutex::default() }
    }
}

impl WorkspaceIndexes {
    /// The indexes of these roots, shared with other registries of the pool. `global_excludes` is
    /// the file with the user's global ignore rules.
    pub fn new(
        pool: &IndexPool,
        roots: &[PathBuf],
        global_excludes: Option<&Path>,
        settings: IndexSettings,
    ) -> Self {
        let open = match settings.mode {
            IndexMode::Off => Vec::new(),
            IndexMode::Auto | IndexMode::On => {
                // The user's rules are always relative to the first root.
                let excludes = global_excludes.zip(roots.first().map(PathBuf::as_path));
                let open = |root: &PathBuf| pool.open(root, excludes, settings);
                roots.iter().map(open).collect()
            }
        };
        Self { mode: settings.mode, roots: roots.to_vec(), open: Mutex::new(open) }
    }

    /// The index of a root.
    pub fn of(&self, root: &Path) -> Option<WorkspaceIndex> {
        let open = self.open.lock();
        open.iter().find(|it| it.handle.index.root() == root).cloned()
    }

    /// Starts to build the indexes if the mode is `On`.
    pub fn begin(&self) {
        if self.mode == IndexMode::On {
            let open = self.open.lock().clone();
            open.iter().for_each(WorkspaceIndex::want);
        }
    }

    /// The status of the index of each root.
    pub fn status(&self) -> Vec<IndexStatus> {
        let open = self.open.lock().clone();
        if open.is_empty() {
            return self.roots.iter().map(|root| IndexStatus::off(root)).collect();
        }
        open.iter().map(|it| it.handle.index.status()).collect()
    }

    /// Drops the indexes. An index that no other registry uses is freed.
    pub fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        drop(open);
    }
}

/// A shared reference to the index of one root.
#[derive(Clone, Debug)]
pub struct WorkspaceIndex {
    handle: Arc<IndexHandle>,
}

/// Shared by all users of an index. The building thread only holds the `RootIndex`, and ends when
/// this handle is dropped.
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
    /// Starts to build the index, unless it is built.
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

    /// The most recently modified of the selected files, at most `limit`.
    pub(crate) fn find_files(
        &self,
        scope: &Scope<'_>,
        limit: usize,
    ) -> Result<IndexedFiles, WhyCold> {
        self.handle.index.find_files(scope, limit)
    }

    /// The same listing as without the index.
    pub(crate) fn list(&self, request: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        self.handle.index.list(request)
    }

    /// Starts to build the index if a cold search took long.
    pub(crate) fn note_cold_search(&self, took: Duration) {
        if took > WORTH_AN_INDEX {
            self.want();
        }
    }
}
