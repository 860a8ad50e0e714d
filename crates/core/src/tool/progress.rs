//! The progress of a running call: start, output, steps and end. It is sent to a listener of the host.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// One piece of progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Progress {
    /// The tool starts to run. The input is valid, and the call is allowed and confirmed.
    Start {
        /// The tool's name.
        tool: String,
        /// The call's id.
        tool_use_id: String,
    },
    /// A piece of output, in order.
    Output {
        /// The new text only.
        text: String,
    },
    /// How much of the work is done.
    Step {
        /// The amount of work done so far.
        progress: f64,
        /// The total amount of work, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// What is being done.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The tool has ended.
    End {
        /// The tool's name.
        tool: String,
        /// The call's id.
        tool_use_id: String,
        /// How long it ran.
        elapsed_ms: f64,
        /// True when the result is an error.
        is_error: bool,
    },
}

/// How many pieces may be queued for a listener before the sender must wait.
const MAX_QUEUED: usize = 8;

/// Counts the pieces that were sent to a listener and not handled yet.
#[derive(Debug, Default)]
pub struct Backlog {
    queued: AtomicUsize,
    is_gone: AtomicBool,
    changed: Notify,
}

impl Backlog {
    /// Records that a piece was sent.
    pub fn sent(&self) {
        self.queued.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that the listener is gone and will handle no more pieces.
    pub fn gone(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Records that the listener has handled a piece.
    pub fn handled(&self) {
        self.queued.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    async fn caught_up(&self) {
        loop {
            let changed = self.changed.notified();
            let is_gone = self.is_gone.load(Ordering::Acquire);
            if is_gone || self.queued.load(Ordering::Acquire) < MAX_QUEUED {
                return;
            }
            changed.await;
        }
    }
}

/// Receives the progress of a call. Without a listener it does nothing.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<ProgressListener>);

#[derive(Clone)]
struct ProgressListener {
    notify: Arc<dyn Fn(Progress) + Send + Sync>,
    backlog: Option<Arc<Backlog>>,
}

impl ProgressSink {
    /// A sink that passes each piece to a function, which must not block.
    pub fn new(listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(ProgressListener { notify: Arc::new(listener), backlog: None }))
    }

    /// A sink for a listener behind a queue. The listener records in the backlog what it has handled.
    pub fn queued(
        listener: impl Fn(Progress) + Send + Sync + 'static,
        backlog: Arc<Backlog>,
    ) -> Self {
        Self(Some(ProgressListener { notify: Arc::new(listener), backlog: Some(backlog) }))
    }

    /// Waits until the listener has caught up, so that the queue does not grow without bound.
    pub async fn caught_up(&self) {
        if let Some(ProgressListener { backlog: Some(backlog), .. }) = &self.0 {
            backlog.caught_up().await;
        }
    }

    /// True when the listener has caught up. A sender that must not wait drops its progress otherwise.
    pub fn has_room(&self) -> bool {
        let backlog = self.0.as_ref().and_then(|it| it.backlog.as_ref());
        backlog.is_none_or(|it| it.queued.load(Ordering::Acquire) < MAX_QUEUED)
    }

    /// True when there is a listener.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Passes a piece to the listener.
    pub fn send(&self, progress: Progress) {
        if let Some(listener) = &self.0 {
            (listener.notify)(progress);
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressSink").field(&self.is_watched()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_that_is_gone_blocks_no_sender() {
        let backlog = Arc::new(Backlog::default());
        for _ in 0..MAX_QUEUED {
            backlog.sent();
        }
        let sink = ProgressSink::queued(|_| {}, Arc::clone(&backlog));
        let waiting = tokio::spawn(async move { sink.caught_up().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        backlog.gone();
        assert!(waiting.await.is_ok());
    }
}
