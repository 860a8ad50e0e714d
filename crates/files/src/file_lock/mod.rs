//! Makes the editors of one file take turns, so that none works on content that another is replacing.
//!
//! Within a process editors take turns in the order of arrival. Between processes, users and
//! containers the system's lock on the file itself is used. Every program that can open the file
//! sees it, it leaves nothing behind, and it is released when its process ends for any reason. This
//! module does not know what is done with the file.

#[cfg(unix)]
mod inode_lock;
#[cfg(not(unix))]
mod portable_lock;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

#[cfg(unix)]
use inode_lock::lock_across_processes;
use parking_lot::{Condvar, Mutex};
#[cfg(not(unix))]
use portable_lock::lock_across_processes;
use toolwright_base::path_to_text;

use super::path::WorkspacePath;

/// How long an editor waits by default.
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
/// The interval at which a waiting editor checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Why a file could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The caller cancelled the wait.
    #[error("waiting for other edits of `{0}` was cancelled")]
    Cancelled(String),
    /// Another editor has held the lock for too long.
    #[error("`{path}` has been locked by {holder} for more than {seconds} s; try again later")]
    Busy {
        /// The path of the file.
        path: String,
        /// A description of the lock's holder.
        holder: String,
        /// How long this editor has waited, in seconds.
        seconds: u64,
    },
}

/// The queues of editors, shared by everything that writes files in a process.
#[derive(Clone, Debug)]
pub struct FileLocks {
    queues: Arc<Queues>,
    longest_wait: Duration,
}

/// The right to edit one file, until it is dropped.
#[derive(Debug)]
#[must_use = "the file is locked only as long as the guard lives"]
pub struct FileGuard {
    // Fields are dropped in this order: the lock between processes first, then the turn in this process.
    across_processes: Option<File>,
    turn: Turn,
}

/// A position in the queue for one file. Dropping it leaves the queue.
#[derive(Debug)]
#[must_use = "dropping this leaves the queue"]
pub struct Turn {
    locks: FileLocks,
    place: WorkspacePath,
    ticket: u64,
}

#[derive(Debug, Default)]
struct Queues {
    waiting: Mutex<WaitingEditors>,
    moved_up: Condvar,
}

#[derive(Debug, Default)]
struct WaitingEditors {
    last_ticket: u64,
    by_path: HashMap<PathBuf, VecDeque<u64>>,
}

impl Default for FileLocks {
    fn default() -> Self {
        Self { queues: Arc::default(), longest_wait: DEFAULT_WAIT }
    }
}

impl FileLocks {
    /// The same queues, for an editor that waits at most this long.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn waiting_at_most(&self, longest_wait: Duration) -> Self {
        Self { longest_wait, ..self.clone() }
    }

    /// Waits until the file may be edited, and locks it.
    #[cfg(test)]
    pub(crate) fn acquire(
        &self,
        place: &WorkspacePath,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileGuard, LockError> {
        self.queue_up(place).wait(cancelled)
    }

    /// Joins the queue without waiting, so that a caller can determine the order of edits before it passes
    /// them to threads.
    pub fn queue_up(&self, place: &WorkspacePath) -> Turn {
        let mut waiting = self.queues.waiting.lock();
        waiting.last_ticket += 1;
        let ticket = waiting.last_ticket;
        waiting.by_path.entry(place.absolute().to_owned()).or_default().push_back(ticket);
        Turn { locks: self.clone(), place: place.clone(), ticket }
    }
}

impl FileGuard {
    /// Locks the file that is at the path now, because another program may have replaced it.
    pub fn renew(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), LockError> {
        // The old lock is released first, because the holder of the new file may be waiting for it.
        self.across_processes = None;
        self.across_processes =
            lock_across_processes(&self.turn.place, &self.turn.wait_limit(cancelled))?;
        Ok(())
    }
}

impl Turn {
    /// Waits until all earlier editors of the file are done, in this and in other processes.
    pub fn wait(self, cancelled: &dyn Fn() -> bool) -> Result<FileGuard, LockError> {
        let limit = self.wait_limit(cancelled);
        self.wait_for_front(&limit)?;
        let across_processes = lock_across_processes(&self.place, &limit)?;
        Ok(FileGuard { across_processes, turn: self })
    }

    fn wait_limit<'a>(&self, cancelled: &'a dyn Fn() -> bool) -> WaitLimit<'a> {
        let path = path_to_text(self.place.absolute()).into_owned();
        WaitLimit { path, cancelled, started: Instant::now(), longest: self.locks.longest_wait }
    }

    fn wait_for_front(&self, limit: &WaitLimit<'_>) -> Result<(), LockError> {
        let path = self.place.absolute();
        let mut waiting = self.locks.queues.waiting.lock();
        loop {
            if waiting.is_front(path, self.ticket) {
                return Ok(());
            }
            drop(waiting);
            limit.check(&|| "another call".to_owned())?;
            waiting = self.locks.queues.waiting.lock();
            if !waiting.is_front(path, self.ticket) {
                self.locks.queues.moved_up.wait_for(&mut waiting, CANCEL_CHECK_INTERVAL);
            }
        }
    }
}

impl WaitingEditors {
    fn is_front(&self, path: &Path, ticket: u64) -> bool {
        self.by_path.get(path).and_then(VecDeque::front) == Some(&ticket)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let path = self.place.absolute();
        let mut waiting = self.locks.queues.waiting.lock();
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

/// Decides when an editor stops waiting.
struct WaitLimit<'a> {
    path: String,
    cancelled: &'a dyn Fn() -> bool,
    started: Instant,
    longest: Duration,
}

impl WaitLimit<'_> {
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

    /// Sleeps for a moment. Briefly at first, because most edits take milliseconds.
    fn pause(&self) {
        let waited = self.started.elapsed();
        // Shorter than `HEAD_START` while an edit may still be running, so that a waiting process
        // goes first.
        let longest = if waited < Duration::from_secs(5) {
            Duration::from_millis(1)
        } else {
            CANCEL_CHECK_INTERVAL / 2
        };
        thread::sleep((waited / 16).clamp(Duration::from_micros(200), longest));
    }
}
