//! What the supervisor and all processes that it forks know of each other at any moment, in memory that they
//! share.

use std::{
    io,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use crate::system_calls::shared_with_forks;

/// How many processes wait for a command at most, once they have had one.
const MAX_WAITING: u32 = 8;

/// The shared memory. It is as if each field were a variable of all of them.
#[derive(Default)]
pub(crate) struct SharedNotes {
    /// How many spares and keepers wait for a command.
    waiting: AtomicU32,
    /// Until when placeholders are handed over, in milliseconds of the clock that all processes have.
    placeholders_until: AtomicU64,
}

impl SharedNotes {
    pub(crate) fn new() -> io::Result<&'static Self> {
        shared_with_forks()
    }

    /// A spare begins to wait.
    pub(crate) fn begin_to_wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// A keeper that has had its command begins to wait for another. False if enough others wait.
    pub(crate) fn begin_to_wait_again(&self) -> bool {
        let more = |it: u32| (it < MAX_WAITING).then_some(it + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// One of those that waited has a command, or was killed.
    pub(crate) fn end_to_wait(&self) {
        let fewer = |it: u32| it.checked_sub(1);
        let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
    }

    /// Says for how long placeholders are handed over.
    pub(crate) fn hand_over_placeholders_for(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or_default();
        self.placeholders_until.store(now_in_milliseconds() + time, Ordering::Relaxed);
    }

    /// Whether placeholders are handed over now.
    pub(crate) fn hands_over_placeholders(&self) -> bool {
        now_in_milliseconds() < self.placeholders_until.load(Ordering::Relaxed)
    }
}

fn now_in_milliseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let milliseconds = now.tv_sec * 1_000 + now.tv_nsec / 1_000_000;
    u64::try_from(milliseconds).unwrap_or_default()
}
