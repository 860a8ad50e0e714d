//! Lets the editors of one file take turns, so that none works on content another is replacing.
//!
//! In one process they go in order of arrival. Across processes, users and containers the system's lock
//! on the file itself decides: whoever can reach the file meets whoever else can, nothing is left
//! behind, and the lock ends with its process, however that ends. Knows nothing of what is done with the
//! file meanwhile.

#[cfg(unix)]
mod inode;
#[cfg(not(unix))]
mod portable;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

#[cfg(unix)]
use inode::lock_across_processes;
#[cfg(not(unix))]
use portable::lock_across_processes;

use super::path::WorkspacePath;
use crate::path_text::path_to_text;

/// How long one editor waits for the others unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a waiting editor asks whether it was cancelled.
const ATTENTION: Duration = Duration::from_millis(10);

/// Why a file could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The caller has given up.
    #[error("waiting for other edits of `{0}` was cancelled")]
    Cancelled(String),
    /// Somebody else has held the file for too long.
    #[error("`{path}` has been locked by {holder} for more than {seconds} s; try again later")]
    Busy {
        /// The file.
        path: String,
        /// Who holds it.
        holder: String,
        /// How long this editor has waited.
        seconds: u64,
    },
}

/// The queues of editors, shared by everything that writes files in a process.
#[derive(Clone, Debug)]
pub struct FileLocks {
    queues: Arc<Queues>,
    patience: Duration,
}

/// The right to edit one file, until it is dropped.
#[derive(Debug)]
#[must_use = "the file is locked only as long as the guard lives"]
pub struct FileGuard {
    // Fields are dropped in this order: other processes first, then the next editor here.
    across_processes: Option<File>,
    turn: Turn,
}

/// A place in the queue for one file; dropping it leaves the queue.
#[derive(Debug)]
#[must_use = "the place in the queue is given up when this is dropped"]
pub struct Turn {
    locks: FileLocks,
    place: WorkspacePath,
    ticket: u64,
}

#[derive(Debug, Default)]
struct Queues {
    waiting: Mutex<Waiting>,
    moved_up: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    last_ticket: u64,
    by_path: HashMap<PathBuf, VecDeque<u64>>,
}

impl Default for FileLocks {
    fn default() -> Self {
        Self { queues: Arc::default(), patience: PATIENCE }
    }
}

impl FileLocks {
    /// The same queues for an editor that waits so long and no longer.
    #[must_use]
    pub fn waiting_at_most(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    /// Waits for the turn to edit a file.
    pub fn acquire(
        &self,
        place: &WorkspacePath,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileGuard, LockError> {
        self.queue_up(place).wait(cancelled)
    }

    /// Takes the next place in the queue without waiting, so that a caller can fix the order of
    /// edits before it hands them to threads.
    pub fn queue_up(&self, place: &WorkspacePath) -> Turn {
        let mut waiting = self.queues.lock();
        waiting.last_ticket += 1;
        let ticket = waiting.last_ticket;
        waiting.by_path.entry(place.absolute().to_owned()).or_default().push_back(ticket);
        Turn { locks: self.clone(), place: place.clone(), ticket }
    }
}

impl FileGuard {
    /// Locks what is at the place now: another program may have put another file there.
    pub fn renew(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), LockError> {
        // Released first: whoever holds the other file may be waiting for this one.
        self.across_processes = None;
        self.across_processes =
            lock_across_processes(&self.turn.place, &self.turn.patience(cancelled))?;
        Ok(())
    }
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change under the lock is a single step, so a panic elsewhere leaves it whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until every earlier editor of the file is done, here and in other processes.
    pub fn wait(self, cancelled: &dyn Fn() -> bool) -> Result<FileGuard, LockError> {
        let patience = self.patience(cancelled);
        self.wait_for_front(&patience)?;
        let across_processes = lock_across_processes(&self.place, &patience)?;
        Ok(FileGuard { across_processes, turn: self })
    }

    fn patience<'a>(&self, cancelled: &'a dyn Fn() -> bool) -> Patience<'a> {
        let path = path_to_text(self.place.absolute()).into_owned();
        Patience { path, cancelled, started: Instant::now(), longest: self.locks.patience }
    }

    fn wait_for_front(&self, patience: &Patience<'_>) -> Result<(), LockError> {
        let path = self.place.absolute();
        let mut waiting = self.locks.queues.lock();
        loop {
            if waiting.is_front(path, self.ticket) {
                return Ok(());
            }
            drop(waiting);
            patience.check(&|| "another call".to_owned())?;
            waiting = self.locks.queues.lock();
            if !waiting.is_front(path, self.ticket) {
                let woken = self.locks.queues.moved_up.wait_timeout(waiting, ATTENTION);
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

impl Waiting {
    fn is_front(&self, path: &Path, ticket: u64) -> bool {
        self.by_path.get(path).and_then(VecDeque::front) == Some(&ticket)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let path = self.place.absolute();
        let mut waiting = self.locks.queues.lock();
        if let Some(queue) = waiting.by_path.get_mut(path) {
            queue.retain(|&ticket| ticket != self.ticket);
            if queue.is_empty() {
                waiting.by_path.remove(path);
            }
        }
        drop(waiting);
        self.locks.queues.moved_up.notify_all();
    }
}

/// How long an editor still waits.
struct Patience<'a> {
    path: String,
    cancelled: &'a dyn Fn() -> bool,
    started: Instant,
    longest: Duration,
}

impl Patience<'_> {
    fn check(&self, holder: &dyn Fn() -> String) -> Result<(), LockError> {
        if (self.cancelled)() {
            return Err(LockError::Cancelled(self.path.clone()));
        }
        if self.started.elapsed() >= self.longest {
            let (path, seconds) = (self.path.clone(), self.longest.as_secs());
            return Err(LockError::Busy { path, holder: holder(), seconds });
        }
        Ok(())
    }

    /// Lets another process go on; brief at first, since an edit takes milliseconds.
    fn pause(&self) {
        let waited = self.started.elapsed();
        // Soon enough for those who let it go first, for as long as an edit may take.
        let longest =
            if waited < Duration::from_secs(5) { Duration::from_millis(1) } else { ATTENTION / 2 };
        thread::sleep((waited / 16).clamp(Duration::from_micros(200), longest));
    }
}
