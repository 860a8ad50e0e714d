//! The conversations of one registry, by id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{ReadLedger, UndoLog};
use crate::workspace::{FileLocks, Roots};

/// How many conversations are kept; the one used longest ago is forgotten first.
const CAPACITY: usize = 1_000;

/// One conversation with a model.
#[derive(Debug)]
pub struct Session {
    /// The host's id of it.
    pub id: String,
    /// The directories its file tools may touch.
    pub roots: Arc<Roots>,
    /// What it has read.
    pub ledger: ReadLedger,
    /// What it has changed.
    pub undo: UndoLog,
    /// The queues of those who change files.
    pub locks: FileLocks,
}

/// Finds or starts conversations.
#[derive(Debug)]
pub struct Sessions {
    roots: Arc<Roots>,
    locks: FileLocks,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<String, (Arc<Session>, u64)>,
    clock: u64,
}

impl Sessions {
    /// No conversations yet, in a workspace.
    pub fn new(roots: Arc<Roots>) -> Self {
        Self { roots, locks: FileLocks::default(), known: Mutex::default() }
    }

    /// The conversation of that id.
    pub fn get_or_start(&self, id: &str) -> Arc<Session> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let now = known.clock;
        if let Some((session, used)) = known.by_id.get_mut(id) {
            *used = now;
            return Arc::clone(session);
        }
        let session = Arc::new(Session {
            id: id.to_owned(),
            roots: Arc::clone(&self.roots),
            ledger: ReadLedger::default(),
            undo: UndoLog::default(),
            locks: self.locks.clone(),
        });
        known.by_id.insert(id.to_owned(), (Arc::clone(&session), now));
        if known.by_id.len() > CAPACITY
            && let Some(oldest) =
                known.by_id.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone())
        {
            known.by_id.remove(&oldest);
        }
        session
    }
}
