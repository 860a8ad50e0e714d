//! The pieces of work that the threads of a walk do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use toolwright_files::Folder;

use super::{name_list::NameList, plan::PlannedFolder, queue::Splits, rules::Rules};

/// How many files are one piece of work: enough to keep the cost of the queue low, few enough to share
/// them among threads.
const FILES_AT_ONCE: usize = 32;

/// Work that is queued.
pub(super) enum WalkWork<'p> {
    /// List the directory in which a walk starts.
    Start(Box<Folder>),
    /// Process these entries of a directory: visit files, and enter and list directories.
    Entries { listed: Arc<DirectoryContents<'p>>, from: usize, to: usize, pieces: usize },
}

/// The selected entries of a directory, in order.
pub(super) struct DirectoryContents<'p> {
    pub(super) folder: Arc<Folder>,
    pub(super) entries: ContentsFrom<'p>,
}

/// Where the entries of a directory are known from.
pub(super) enum ContentsFrom<'p> {
    /// It was listed.
    Listing { rules: Option<Arc<Rules>>, names: NameList, held: Arc<AtomicUsize> },
    /// A plan.
    Plan(&'p PlannedFolder),
}

impl<'p> DirectoryContents<'p> {
    /// Counts the memory of the names in `held` until they are dropped.
    pub(super) fn new(
        folder: Arc<Folder>,
        rules: Option<Arc<Rules>>,
        names: NameList,
        held: &Arc<AtomicUsize>,
    ) -> Self {
        held.fetch_add(names.bytes(), Ordering::Relaxed);
        Self { folder, entries: ContentsFrom::Listing { rules, names, held: Arc::clone(held) } }
    }

    /// What a plan says of a directory.
    pub(super) fn planned(folder: Arc<Folder>, planned: &'p PlannedFolder) -> Self {
        Self { folder, entries: ContentsFrom::Plan(planned) }
    }

    pub(super) fn names(&self) -> &NameList {
        match &self.entries {
            ContentsFrom::Listing { names, .. } => names,
            ContentsFrom::Plan(planned) => planned.names(),
        }
    }

    /// The rules that apply to what is in its directories.
    pub(super) fn rules(&self) -> Option<&Arc<Rules>> {
        match &self.entries {
            ContentsFrom::Listing { rules, .. } => rules.as_ref(),
            ContentsFrom::Plan(planned) => planned.rules(),
        }
    }

    /// The end of the piece of work that begins with entry `from`.
    fn end_of_piece(&self, from: usize) -> usize {
        from + self.names().files_from(from, FILES_AT_ONCE).max(1)
    }
}

impl Drop for ContentsFrom<'_> {
    fn drop(&mut self) {
        if let Self::Listing { names, held, .. } = self {
            held.fetch_sub(names.bytes(), Ordering::Relaxed);
        }
    }
}

impl<'p> WalkWork<'p> {
    /// The work for all entries of a directory.
    pub(super) fn of(contents: DirectoryContents<'p>) -> Self {
        let to = contents.names().len();
        let (mut from, mut pieces) = (0, 0);
        while from < to {
            from = contents.end_of_piece(from);
            pieces += 1;
        }
        Self::Entries { listed: Arc::new(contents), from: 0, to, pieces }
    }
}

impl Splits for WalkWork<'_> {
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
