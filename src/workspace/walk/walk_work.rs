//! The pieces of work that the threads of a walk do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{folder::Folder, name_list::NameList, queue::Splits, rules::Rules};

/// How many files are one piece of work: enough to keep the cost of the queue low, few enough to share
/// them among threads.
const FILES_AT_ONCE: usize = 32;

/// Work that is queued.
pub(super) enum WalkWork {
    /// List the directory in which a walk starts.
    Start(Box<Folder>),
    /// Process these entries of a directory: visit files, and enter and list directories.
    Entries { listed: Arc<DirectoryContents>, from: usize, to: usize, pieces: usize },
}

/// The selected entries of a directory, in order.
pub(super) struct DirectoryContents {
    pub(super) folder: Arc<Folder>,
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) names: NameList,
    held: Arc<AtomicUsize>,
}

impl DirectoryContents {
    /// Counts the memory of the names in `held` until they are dropped.
    pub(super) fn new(
        folder: Arc<Folder>,
        rules: Option<Arc<Rules>>,
        names: NameList,
        held: &Arc<AtomicUsize>,
    ) -> Self {
        held.fetch_add(names.bytes(), Ordering::Relaxed);
        Self { folder, rules, names, held: Arc::clone(held) }
    }

    /// The end of the piece of work that begins with entry `from`.
    fn end_of_piece(&self, from: usize) -> usize {
        from + self.names.files_from(from, FILES_AT_ONCE).max(1)
    }
}

impl Drop for DirectoryContents {
    fn drop(&mut self) {
        self.held.fetch_sub(self.names.bytes(), Ordering::Relaxed);
    }
}

impl WalkWork {
    /// The work for all entries of a directory.
    pub(super) fn of(contents: DirectoryContents) -> Self {
        let to = contents.names.len();
        let (mut from, mut pieces) = (0, 0);
        while from < to {
            from = contents.end_of_piece(from);
            pieces += 1;
        }
        Self::Entries { listed: Arc::new(contents), from: 0, to, pieces }
    }
}

impl Splits for WalkWork {
    fn split(self) -> (Self, Option<Self>) {
        let Self::Entries { listed, from, to, pieces } = self else { return (self, None) };
        let end = listed.end_of_piece(from);
        let rest = (end < to).then(|| Self::Entries {
            listed: Arc::clone(&listed),
            from: end,
            to,
            pieces: pieces.saturating_sub(1),
        });
        (Self::Entries { listed, from, to: end, pieces: 1 }, rest)
    }

    fn pieces(&self) -> usize {
        match self {
            Self::Start(_) => 1,
            Self::Entries { pieces, .. } => *pieces,
        }
    }
}
