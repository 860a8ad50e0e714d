//! The host's functions, and the calls that JavaScript works on at this moment.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use napi::{Status, threadsafe_function::ThreadsafeFunctionCallMode};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::callbacks::HostListener;
use crate::{
    host::HostFunction,
    tool::{Progress, ProgressSink},
};

/// The calls, by key.
pub(super) struct HostCalls {
    /// Nobody once the registry has ended.
    host: RwLock<Option<HostListener>>,
    next_key: AtomicU32,
    running: Mutex<HashMap<u32, Waiting>>,
}

/// Who waits for a function.
struct Waiting {
    answer: oneshot::Sender<String>,
    progress: ProgressSink,
}

impl HostCalls {
    pub(super) fn new(host: HostListener) -> Self {
        Self {
            host: RwLock::new(Some(host)),
            next_key: AtomicU32::new(1),
            running: Mutex::default(),
        }
    }

    /// The function of a number, which the facade keeps for as long as this is kept.
    pub(super) fn function(self: &Arc<Self>, number: u32) -> Arc<dyn HostFunction> {
        Arc::new(NumberedFunction { calls: Arc::clone(self), number })
    }

    /// Hands on what a handler told of its progress; nothing once its call has ended.
    pub(super) fn report(&self, key: u32, progress: Progress) {
        let sink = self.lock().get(&key).map(|waiting| waiting.progress.clone());
        if let Some(sink) = sink {
            sink.send(progress);
        }
    }

    /// Hands on a function's answer; false when its call has ended before, and its abort is on the way.
    pub(super) fn answer(&self, key: u32, answer: String) -> bool {
        let waiting = self.lock().remove(&key);
        waiting.is_some_and(|waiting| {
            drop(waiting.answer.send(answer));
            true
        })
    }

    /// Lets go of JavaScript: no function is called from now on, and nobody waits for one.
    pub(super) fn release(&self) {
        let host = self.host.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(host);
        self.lock().clear();
    }

    /// True when the facade will hear of it.
    fn tell(
        &self,
        what: &'static str,
        key: u32,
        number: u32,
        input: String,
        context: String,
    ) -> bool {
        let host = self.host.read().unwrap_or_else(PoisonError::into_inner);
        host.as_ref().is_some_and(|host| {
            let message = (what, key, number, input, context).into();
            host.call(message, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Waiting>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function that the facade keeps under a number, until this is dropped.
struct NumberedFunction {
    calls: Arc<HostCalls>,
    number: u32,
}

#[async_trait]
impl HostFunction for NumberedFunction {
    async fn call(&self, input: &Value, context: &Value, progress: ProgressSink) -> Option<String> {
        let (_running, answered) = self.begin(input, context, progress)?;
        answered.await.ok()
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
        stop: &CancellationToken,
    ) -> Option<String> {
        let (running, mut answered) = self.begin(input, context, progress)?;
        tokio::select! {
            biased;
            answer = &mut answered => return answer.ok(),
            () = stop.cancelled() => {}
        }
        self.calls.tell("abort", running.key, 0, String::new(), String::new());
        answered.await.ok()
    }

    fn new_key(&self) -> u32 {
        self.calls.next_key.fetch_add(1, Ordering::Relaxed)
    }

    fn release_key(&self, key: u32, last_word: &str) {
        self.calls.tell("letGo", key, self.number, last_word.to_owned(), String::new());
    }
}

impl NumberedFunction {
    /// Starts a call of the function; nothing if the facade does not hear of it.
    fn begin(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
    ) -> Option<(Running<'_>, oneshot::Receiver<String>)> {
        let key = self.new_key();
        let (answer, answered) = oneshot::channel();
        self.calls.lock().insert(key, Waiting { answer, progress });
        let running = Running { calls: &self.calls, key };
        let is_told =
            self.calls.tell("call", key, self.number, input.to_string(), context.to_string());
        is_told.then_some((running, answered))
    }
}

impl Drop for NumberedFunction {
    fn drop(&mut self) {
        self.calls.tell("forget", 0, self.number, String::new(), String::new());
    }
}

/// A call that JavaScript works on; its function is told when it is dropped before it has answered.
struct Running<'a> {
    calls: &'a HostCalls,
    key: u32,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.calls.lock().remove(&self.key).is_some() {
            self.calls.tell("abort", self.key, 0, String::new(), String::new());
        }
    }
}
