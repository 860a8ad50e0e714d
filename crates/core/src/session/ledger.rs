//! The files a session has read: the content of each file, or its beginning, as the model last saw it.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use lru::LruCache;
use parking_lot::Mutex;
use toolwright_files::SeenContent;

/// The hash of a file's content. Equal hashes mean that the file is what the model saw, regardless of
/// its mtime.
pub(crate) type ContentHash = blake3::Hash;

/// How many files one session remembers. The one read longest ago is dropped first.
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
    /// Records that the session has seen this content.
    pub fn record(&self, path: PathBuf, content: SeenContent) {
        self.0.lock().put(path, content);
    }

    /// The content the session last saw at the path.
    pub fn seen(&self, path: &Path) -> Option<SeenContent> {
        self.0.lock().peek(path).cloned()
    }
}
