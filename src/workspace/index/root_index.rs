//! The index of one root: its state, and the thread that builds it.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::{IndexSettings, IndexStatus, WhyCold};

/// The index of one root.
#[derive(Debug)]
pub(super) struct RootIndex {
    root: PathBuf,
    global_excludes: Option<(PathBuf, PathBuf)>,
    max_memory: AtomicUsize,
    closing: AtomicBool,
}

impl RootIndex {
    pub(super) fn new(
        root: PathBuf,
        global_excludes: Option<(PathBuf, PathBuf)>,
        settings: IndexSettings,
    ) -> Self {
        Self {
            root,
            global_excludes,
            max_memory: AtomicUsize::new(settings.max_memory),
            closing: AtomicBool::new(false),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Another user of the index allows this much memory.
    pub(super) fn allow_memory(&self, bytes: usize) {
        self.max_memory.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Has the index built, unless it is.
    pub(super) fn want(&self) {}

    /// Tells the thread to end.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(super) fn status(&self) -> IndexStatus {
        IndexStatus::cold(&self.root, Some(WhyCold::NotBuiltYet.to_string()))
    }
}
