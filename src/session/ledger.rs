//! What a session has read: the content of each file, or its beginning, as the model last saw it.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use lru::LruCache;

use crate::workspace::SeenContent;

/// The hash of a file's content. Equal hashes mean that the file is what the model saw, whatever its mtime
/// says.
pub(crate) type ContentHash = blake3::Hash;

/// How many files one session remembers; the one read longest ago is forgotten first.
const MAX_FILES: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The files a session has seen.
#[derive(Debug)]
pub struct ReadLedger(Mutex<LruCache<PathBuf, SeenContent>>);

impl Default for ReadLedger {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_FILES)))
    }
}

impl ReadLedger {
    /// Notes that the session has seen this content.
    pub(crate) fn record(&self, path: PathBuf, content: SeenContent) {
        self.lock().put(path, content);
    }

    /// The content the session last saw at the path.
    pub fn seen(&self, path: &Path) -> Option<SeenContent> {
        self.lock().peek(path).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<PathBuf, SeenContent>> {
        // Entries are whole after every statement, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
