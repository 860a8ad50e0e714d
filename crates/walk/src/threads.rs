//! Limits how many threads all searches of a registry use together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::available_parallelism,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most threads that one search uses. With a warm cache more make it no faster.
const MAX_PER_SEARCH: usize = 8;
/// At least this many searches run at once, so that one on a slow disk does not block the others.
const MIN_AT_ONCE: usize = 4;

/// The threads that searches may start besides the one they run on. They are limited so that many
/// searches at once leave enough processor time for the host.
#[derive(Clone, Debug)]
pub struct SearchThreads {
    spare: Arc<AtomicUsize>,
    most: usize,
    turns: Arc<Semaphore>,
}

/// The turn of a search. When it is dropped, the next search may start.
#[derive(Debug)]
pub struct SearchTurn {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The right to run one more thread, returned when it is dropped.
#[derive(Debug)]
pub(super) struct HelperThread(Arc<AtomicUsize>);

impl SearchThreads {
    /// As many helper threads as the machine has processors, minus the thread that a search runs on.
    pub fn of_this_machine() -> Self {
        Self::new(available_parallelism().map_or(1, std::num::NonZero::get).saturating_sub(1))
    }

    /// This many helper threads, besides the threads that searches run on.
    pub fn new(helpers: usize) -> Self {
        Self {
            spare: Arc::new(AtomicUsize::new(helpers)),
            most: helpers.min(MAX_PER_SEARCH - 1),
            turns: Arc::new(Semaphore::new((helpers + 1).max(MIN_AT_ONCE))),
        }
    }

    /// Waits until there are few enough other searches.
    pub async fn turn(&self) -> SearchTurn {
        // The semaphore is never closed. If it were, searches would simply not be limited.
        SearchTurn { _permit: Arc::clone(&self.turns).acquire_owned().await.ok() }
    }

    /// The most helper threads that one search may have.
    pub(super) fn most_per_search(&self) -> usize {
        self.most
    }

    /// A helper thread, if other searches do not use all of them.
    pub(super) fn helper(&self) -> Option<HelperThread> {
        self.spare
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| spare.checked_sub(1))
            .ok()
            .map(|_| HelperThread(Arc::clone(&self.spare)))
    }
}

impl Drop for HelperThread {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
