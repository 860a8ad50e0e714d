//! How many threads all searches of a registry may use together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::available_parallelism,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most threads one search uses; more gain nothing on a warm cache.
const MAX_PER_SEARCH: usize = 8;
/// How many searches run at once, at least: one that waits for a slow disk must not hold up the rest.
const MIN_AT_ONCE: usize = 4;

/// The threads that searches may start beside the one they run on. Eight searches at once must leave
/// the host's own threads their share.
#[derive(Clone, Debug)]
pub struct SearchThreads {
    spare: Arc<AtomicUsize>,
    most: usize,
    turns: Arc<Semaphore>,
}

/// A search's turn; the next one comes when it is dropped.
#[derive(Debug)]
pub struct SearchTurn {
    _permit: Option<OwnedSemaphorePermit>,
}

/// A thread that a search may run. Given back when dropped.
#[derive(Debug)]
pub(super) struct Helper(Arc<AtomicUsize>);

impl SearchThreads {
    /// As many as the machine has processors, less the one that a search runs on anyway.
    pub fn of_this_machine() -> Self {
        Self::new(available_parallelism().map_or(1, std::num::NonZero::get).saturating_sub(1))
    }

    /// A number of threads beside the ones that searches run on.
    pub fn new(helpers: usize) -> Self {
        Self {
            spare: Arc::new(AtomicUsize::new(helpers)),
            most: helpers.min(MAX_PER_SEARCH - 1),
            turns: Arc::new(Semaphore::new((helpers + 1).max(MIN_AT_ONCE))),
        }
    }

    /// Waits until not too many searches run.
    pub async fn turn(&self) -> SearchTurn {
        // Nobody closes the semaphore; if somebody did, searching would go on without turns.
        SearchTurn { _permit: Arc::clone(&self.turns).acquire_owned().await.ok() }
    }

    /// The most helpers that one search may have.
    pub(super) fn most_per_search(&self) -> usize {
        self.most
    }

    /// A helper, unless other searches have them all.
    pub(super) fn helper(&self) -> Option<Helper> {
        self.spare
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| spare.checked_sub(1))
            .ok()
            .map(|_| Helper(Arc::clone(&self.spare)))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
