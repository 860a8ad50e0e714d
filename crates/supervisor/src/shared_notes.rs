//! State that the supervisor shares with all processes that it forks, in shared memory.

use std::{
    io,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use crate::system_calls::shared_with_forks;

/// A keeper waits for another command only while fewer processes than this wait.
const MAX_WAITING: u32 = 8;

/// The shared memory. All processes read and write the same fields.
#[derive(Default)]
pub(crate) struct SharedNotes {
    /// How many spares and keepers wait for a command.
    waiting: AtomicU32,
    /// Until when placeholders are handed over, in milliseconds of the monotonic clock, which all
    /// processes share.
    placeholders_until: AtomicU64,
}

impl SharedNotes {
    pub(crate) fn new() -> io::Result<&'static Self> {
        shared_with_forks()
    }

    /// Records that a spare waits for a command.
    pub(crate) fn begin_to_wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a keeper waits for another command. Returns false if enough processes wait
    /// already.
    pub(crate) fn begin_to_wait_again(&self) -> bool {
        let more = |it: u32| (it < MAX_WAITING).then_some(it + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Records that a waiting process got a command or was killed.
    pub(crate) fn end_to_wait(&self) {
        let fewer = |it: u32| it.checked_sub(1);
        let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
    }

    /// Sets for how long placeholders are handed over.
    pub(crate) fn hand_over_placeholders_for(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or_default();
        self.placeholders_until.store(now_in_milliseconds() + time, Ordering::Relaxed);
    }

    /// True while placeholders are handed over.
    pub(crate) fn hands_over_placeholders(&self) -> bool {
        now_in_milliseconds() < self.placeholders_until.load(Ordering::Relaxed)
    }
}

fn now_in_milliseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let milliseconds = now.tv_sec * 1_000 + now.tv_nsec / 1_000_000;
    u64::try_from(milliseconds).unwrap_or_default()
}
