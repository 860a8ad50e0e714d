//! What the conversations of a registry share about files.

use std::{path::PathBuf, sync::Arc};

use toolwright_files::{FileLocks, Roots};
use toolwright_search::WorkspaceIndexes;
use toolwright_walk::SearchThreads;

use super::{SeenTexts, UndoLog};

/// Whether a file must be read, and must not have changed since, before it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBeforeWrite {
    /// It must be read first.
    #[default]
    Required,
    /// Every file may be changed. For hosts that check this themselves.
    NotRequired,
}

/// The files of a registry, and what is known about them.
#[derive(Clone, Debug)]
pub struct FileState {
    /// The directories that file tools may touch.
    pub roots: Arc<Roots>,
    /// Whether a conversation must have read a file before it changes it.
    pub read_before_write: ReadBeforeWrite,
    /// The texts that conversations have read.
    pub seen_texts: Arc<SeenTexts>,
    /// The changes that conversations have made.
    pub undo: Arc<UndoLog>,
    /// The queues of writers for each file.
    pub locks: FileLocks,
    /// The threads that searches share.
    pub search_threads: SearchThreads,
    /// The indexes of the roots.
    pub indexes: Arc<WorkspaceIndexes>,
    /// The file with the user's global ignore rules, if git has one.
    pub global_excludes: Option<Arc<PathBuf>>,
}

impl FileState {
    pub(super) fn new(roots: Arc<Roots>) -> Self {
        Self {
            roots,
            read_before_write: ReadBeforeWrite::default(),
            seen_texts: Arc::default(),
            undo: Arc::default(),
            locks: FileLocks::default(),
            search_threads: SearchThreads::of_this_machine(),
            indexes: Arc::default(),
            global_excludes: ignore::gitignore::gitconfig_excludes_path().map(Arc::new),
        }
    }
}
