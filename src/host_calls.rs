//! The host's functions, and the calls that JavaScript is running at the moment.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use napi::{Status, threadsafe_function::ThreadsafeFunctionCallMode};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolwright_core::{Progress, ProgressSink};
use toolwright_host::HostFunction;

use crate::callbacks::HostListener;

/// The running calls, by key.
pub(super) struct HostCalls {
    /// `None` once the registry has ended.
    host: RwLock<Option<HostListener>>,
    next_key: AtomicU32,
    running: Mutex<HashMap<u32, Waiting>>,
}

/// The Rust side that waits for a function's answer.
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

    /// The function with this number. The facade keeps the function until the returned value is dropped.
    pub(super) fn function(self: &Arc<Self>, number: u32) -> Arc<dyn HostFunction> {
        Arc::new(NumberedFunction { calls: Arc::clone(self), number })
    }

    /// Forwards the progress of a handler. Does nothing once its call has ended.
    pub(super) fn report(&self, key: u32, progress: Progress) {
        let sink = self.running.lock().get(&key).map(|waiting| waiting.progress.clone());
        if let Some(sink) = sink {
            sink.send(progress);
        }
    }

    /// Forwards a function's answer. Returns false if the call has ended already; its abort message is
    /// then on its way to JavaScript.
    pub(super) fn answer(&self, key: u32, answer: String) -> bool {
        let waiting = self.running.lock().remove(&key);
        waiting.is_some_and(|waiting| {
            drop(waiting.answer.send(answer));
            true
        })
    }

    /// Releases JavaScript: no function is called from now on, and every waiting call ends.
    pub(super) fn release(&self) {
        let host = self.host.write().take();
        drop(host);
        self.running.lock().clear();
    }

    /// Sends a message to the facade. Returns false if it cannot be delivered.
    fn send(
        &self,
        what: &'static str,
        key: u32,
        number: u32,
        input: String,
        context: String,
    ) -> bool {
        let host = self.host.read();
        host.as_ref().is_some_and(|host| {
            let message = (what, key, number, input, context).into();
            host.call(message, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
        })
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
        self.calls.send("abort", running.key, 0, String::new(), String::new());
        answered.await.ok()
    }

    fn new_key(&self) -> u32 {
        self.calls.next_key.fetch_add(1, Ordering::Relaxed)
    }

    fn release_key(&self, key: u32, outcome: &str) {
        self.calls.send("release", key, self.number, outcome.to_owned(), String::new());
    }
}

impl NumberedFunction {
    /// Starts a call of the function. Returns `None` if the facade cannot be reached.
    fn begin(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
    ) -> Option<(Running<'_>, oneshot::Receiver<String>)> {
        let key = self.new_key();
        let (answer, answered) = oneshot::channel();
        self.calls.running.lock().insert(key, Waiting { answer, progress });
        let running = Running { calls: &self.calls, key };
        let is_sent =
            self.calls.send("call", key, self.number, input.to_string(), context.to_string());
        is_sent.then_some((running, answered))
    }
}

impl Drop for NumberedFunction {
    fn drop(&mut self) {
        self.calls.send("forget", 0, self.number, String::new(), String::new());
    }
}

/// A call that JavaScript is running. Dropped before the answer, it sends an abort to the function.
struct Running<'a> {
    calls: &'a HostCalls,
    key: u32,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.calls.running.lock().remove(&self.key).is_some() {
            self.calls.send("abort", self.key, 0, String::new(), String::new());
        }
    }
}
