//! The contents of files before each change, for undo.

use std::{collections::VecDeque, path::Path, sync::Arc};

use parking_lot::Mutex;
use toolwright_files::WorkspacePath;

use super::ContentHash;

/// How many bytes of old contents one registry keeps; the oldest are dropped first.
const MAX_BYTES: usize = 128 * 1024 * 1024;
/// How many changes one registry keeps.
const MAX_CHANGES: usize = 10_000;

/// One change of one file.
#[derive(Debug)]
pub struct Change {
    /// The conversation it was made in.
    pub session_id: String,
    /// The call that made it.
    pub tool_use_id: String,
    /// The changed file.
    pub file: WorkspacePath,
    /// The content before the change; `None` for a file that was created.
    pub before: Option<Vec<u8>>,
    /// The hash of the content after the change.
    pub after: ContentHash,
}

impl Change {
    fn bytes(&self) -> usize {
        self.before.as_ref().map_or(0, Vec::len)
    }
}

/// The changes of all sessions of a registry, oldest first.
#[derive(Debug, Default)]
pub struct UndoLog(Mutex<KeptChanges>);

#[derive(Debug, Default)]
struct KeptChanges {
    changes: VecDeque<Arc<Change>>,
    bytes: usize,
}

impl UndoLog {
    /// Stores a change. A change larger than the limit is not stored, and the others stay.
    pub fn keep(&self, change: Change) {
        let size = change.bytes();
        if size > MAX_BYTES {
            return;
        }
        let mut kept = self.0.lock();
        kept.bytes += size;
        kept.changes.push_back(Arc::new(change));
        while kept.bytes > MAX_BYTES || kept.changes.len() > MAX_CHANGES {
            let Some(oldest) = kept.changes.pop_front() else { return };
            kept.bytes -= oldest.bytes();
        }
    }

    /// The changes of a call, the last one first.
    pub fn of_call(&self, session_id: &str, tool_use_id: &str) -> Vec<Arc<Change>> {
        let of_call =
            |it: &&Arc<Change>| it.tool_use_id == tool_use_id && it.session_id == session_id;
        self.0.lock().changes.iter().rev().filter(of_call).map(Arc::clone).collect()
    }

    /// The last change of a file.
    pub fn last_of(&self, path: &Path) -> Option<Arc<Change>> {
        let of_file = |it: &&Arc<Change>| it.file.absolute() == path;
        self.0.lock().changes.iter().rev().find(of_file).map(Arc::clone)
    }

    /// Drops a change that has been undone.
    pub fn forget(&self, change: &Arc<Change>) {
        let mut kept = self.0.lock();
        if let Some(index) = kept.changes.iter().position(|it| Arc::ptr_eq(it, change)) {
            kept.changes.remove(index);
            kept.bytes -= change.bytes();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use toolwright_files::{RelativePaths, Roots};

    use super::*;

    #[test]
    fn the_oldest_changes_are_dropped_when_there_are_too_many_bytes() {
        let root = tempfile::TempDir::new().unwrap();
        let file = Roots::new(root.path(), &[])
            .unwrap()
            .resolve("a", RelativePaths::FromFirstRoot)
            .unwrap();
        let change = |tool_use_id: &str, size: usize| Change {
            session_id: "s".to_owned(),
            tool_use_id: tool_use_id.to_owned(),
            file: file.clone(),
            before: Some(vec![0; size]),
            after: blake3::hash(b""),
        };
        let log = UndoLog::default();
        for id in ["a", "b", "c"] {
            log.keep(change(id, MAX_BYTES / 2));
        }
        log.keep(change("too large", MAX_BYTES + 1));
        let kept = |id: &str| log.of_call("s", id).len();
        assert_eq!(["a", "b", "c", "too large"].map(kept), [0, 1, 1, 0]);
        assert_eq!(log.of_call("another session", "b").len(), 0);
        for id in ["b", "c"] {
            log.of_call("s", id).iter().for_each(|it| log.forget(it));
        }
        assert_eq!(log.0.lock().bytes, 0);
    }
}
