//! Limits the number of simultaneous fetches, in total and per host.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The queues of fetches.
#[derive(Debug)]
pub(super) struct Turns {
    all: Arc<Semaphore>,
    per_host: usize,
    hosts: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct FetchTurn {
    _of_host: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the host's queue alive while a fetch is in it.
    _queue: Arc<Semaphore>,
}

impl Turns {
    pub(super) fn new(all: usize, per_host: usize) -> Self {
        let all = Arc::new(Semaphore::new(all.max(1)));
        Self { all, per_host: per_host.max(1), hosts: Mutex::default() }
    }

    /// Waits for a turn. The host's queue comes first, so that fetches waiting for a slow host do not block
    /// fetches of other hosts. Never returns `None`, because the queues are never closed.
    pub(super) async fn take(&self, host: &str) -> Option<FetchTurn> {
        let queue = self.queue_of(host);
        let of_host = Arc::clone(&queue).acquire_owned().await.ok()?;
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(FetchTurn { _of_host: of_host, _of_all: of_all, _queue: queue })
    }

    fn queue_of(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock();
        if let Some(queue) = hosts.get(host).and_then(Weak::upgrade) {
            return queue;
        }
        hosts.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Semaphore::new(self.per_host));
        hosts.insert(host.to_owned(), Arc::downgrade(&queue));
        queue
    }
}
