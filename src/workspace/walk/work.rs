//! What the threads of a walk do, piece by piece.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{folder::Folder, names::NameList, queue::Splits, rules::Rules};

/// How many files are one piece of work: enough to make the queue cheap, few enough to share them out.
const FILES_AT_ONCE: usize = 32;

/// Some work.
pub(super) enum Work {
    /// Lists the directory a walk starts with.
    Start(Box<Folder>),
    /// Enters a directory and lists it, or visits files, and goes on behind them.
    Entries { listed: Arc<Contents>, from: usize, to: usize, pieces: usize },
}

/// What a directory has that is asked for, in order.
pub(super) struct Contents {
    pub(super) folder: Arc<Folder>,
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) names: NameList,
    held: Arc<AtomicUsize>,
}

impl Contents {
    /// `held` counts the bytes of names for as long as they are there.
    pub(super) fn new(
        folder: Arc<Folder>,
        rules: Option<Arc<Rules>>,
        names: NameList,
        held: &Arc<AtomicUsize>,
    ) -> Self {
        held.fetch_add(names.bytes(), Ordering::Relaxed);
        Self { folder, rules, names, held: Arc::clone(held) }
    }

    /// Where the piece that begins with an entry ends.
    fn end_of_piece(&self, from: usize) -> usize {
        from + self.names.files_from(from, FILES_AT_ONCE).max(1)
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        self.held.fetch_sub(self.names.bytes(), Ordering::Relaxed);
    }
}

impl Work {
    /// All work in a directory.
    pub(super) fn of(contents: Contents) -> Self {
        let to = contents.names.len();
        let (mut from, mut pieces) = (0, 0);
        while from < to {
            from = contents.end_of_piece(from);
            pieces += 1;
        }
        Self::Entries { listed: Arc::new(contents), from: 0, to, pieces }
    }
}

impl Splits for Work {
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
