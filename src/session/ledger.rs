//! What a session has read: the content of each file, or its beginning, as the model last saw it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::workspace::SeenContent;

/// A file's content, as a hash; equal hashes mean the file is what the model saw, whatever its mtime.
pub type ContentHash = blake3::Hash;

/// How many files one session remembers; the one read longest ago is forgotten first.
const CAPACITY: usize = 10_000;

/// The files a session has seen.
#[derive(Debug, Default)]
pub struct ReadLedger(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    seen: HashMap<PathBuf, (SeenContent, u64)>,
    clock: u64,
}

impl ReadLedger {
    /// Notes that the session has seen this content.
    pub fn record(&self, path: PathBuf, content: SeenContent) {
        let mut entries = self.lock();
        entries.clock += 1;
        let now = entries.clock;
        entries.seen.insert(path, (content, now));
        if entries.seen.len() > CAPACITY
            && let Some(oldest) =
                entries.seen.iter().min_by_key(|(_, (_, at))| *at).map(|(path, _)| path.clone())
        {
            entries.seen.remove(&oldest);
        }
    }

    /// The content the session last saw at the path.
    pub fn seen(&self, path: &Path) -> Option<SeenContent> {
        self.lock().seen.get(path).map(|(content, _)| content.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        // Entries are whole after every statement, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
