//! What files held before each change, so that a change can be taken back.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::ContentHash;

/// How many bytes of before-images one session keeps; the oldest go first.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// How many changes one session keeps.
const MAX_CHANGES: usize = 1_000;

/// One change of one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The call that made it.
    pub tool_use_id: String,
    /// The file.
    pub path: PathBuf,
    /// What it held before; nothing for a file that was created.
    pub before: Option<Vec<u8>>,
    /// What it held after.
    pub after: ContentHash,
}

impl Change {
    fn bytes(&self) -> usize {
        self.before.as_ref().map_or(0, Vec::len)
    }
}

/// The changes of a session, oldest first.
#[derive(Debug, Default)]
pub struct UndoLog(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    changes: VecDeque<Change>,
    bytes: usize,
}

impl UndoLog {
    /// Keeps a change. One larger than the whole store is not kept, and drops none of the others.
    pub fn keep(&self, change: Change) {
        let size = change.bytes();
        if size > MAX_BYTES {
            return;
        }
        let mut kept = self.lock();
        kept.bytes += size;
        kept.changes.push_back(change);
        while kept.bytes > MAX_BYTES || kept.changes.len() > MAX_CHANGES {
            let Some(oldest) = kept.changes.pop_front() else { return };
            kept.bytes -= oldest.bytes();
        }
    }

    /// Takes the changes of a call out, the last one first.
    pub fn take(&self, tool_use_id: &str) -> Vec<Change> {
        let mut kept = self.lock();
        let all = std::mem::take(&mut kept.changes);
        let (mut taken, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|change| change.tool_use_id == tool_use_id);
        kept.changes = rest.into();
        kept.bytes -= taken.iter().map(Change::bytes).sum::<usize>();
        taken.reverse();
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(tool_use_id: &str, size: usize) -> Change {
        Change {
            tool_use_id: tool_use_id.to_owned(),
            path: PathBuf::from("/a"),
            before: Some(vec![0; size]),
            after: blake3::hash(b""),
        }
    }

    #[test]
    fn the_oldest_changes_go_when_there_are_too_many_bytes() {
        let log = UndoLog::default();
        for id in ["a", "b", "c"] {
            log.keep(change(id, MAX_BYTES / 2));
        }
        log.keep(change("too large", MAX_BYTES + 1));
        assert_eq!(["a", "b", "c", "too large"].map(|id| log.take(id).len()), [0, 1, 1, 0]);
        assert_eq!(log.lock().bytes, 0);
    }
}
