//! The host tools' calls that JavaScript works on at this moment.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use tokio::sync::oneshot;

use super::callbacks::Aborter;
use crate::tool::{Progress, ProgressSink};

/// The calls, by key.
pub(super) struct HostCalls {
    aborter: Aborter,
    next_key: AtomicU32,
    running: Mutex<HashMap<u32, Waiting>>,
}

/// Who waits for a handler.
struct Waiting {
    answer: oneshot::Sender<String>,
    progress: ProgressSink,
}

impl HostCalls {
    pub(super) fn new(aborter: Aborter) -> Self {
        Self { aborter, next_key: AtomicU32::new(1), running: Mutex::default() }
    }

    /// Hands on what a handler told of its progress; nothing once its call has ended.
    pub(super) fn report(&self, key: u32, progress: Progress) {
        let sink = self.lock().get(&key).map(|waiting| waiting.progress.clone());
        if let Some(sink) = sink {
            sink.send(progress);
        }
    }

    /// Hands on a handler's answer; false when its call has ended before, and its abort is on the way.
    pub(super) fn answer(&self, key: u32, answer: String) -> bool {
        let waiting = self.lock().remove(&key);
        waiting.is_some_and(|waiting| {
            drop(waiting.answer.send(answer));
            true
        })
    }

    /// Notes a call that is about to start.
    pub(super) fn begin(&self, progress: ProgressSink) -> (Running<'_>, oneshot::Receiver<String>) {
        let key = self.next_key.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.lock().insert(key, Waiting { answer, progress });
        (Running { calls: self, key }, answered)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Waiting>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that JavaScript works on; its handler is told when it is dropped before it has answered.
pub(super) struct Running<'a> {
    calls: &'a HostCalls,
    pub(super) key: u32,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.calls.lock().remove(&self.key).is_some() {
            self.calls.aborter.call(self.key, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}
