//! News of a running call, on their way to the host.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// One piece of news.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Progress {
    /// The tool begins to run: validated, allowed and confirmed.
    Start {
        /// The tool's name.
        tool: String,
        /// The call's id.
        tool_use_id: String,
    },
    /// A piece of output, in order.
    Output {
        /// The new text alone.
        text: String,
    },
    /// How far the work has come.
    Step {
        /// Work done, rising.
        progress: f64,
        /// All of the work, where it is known.
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

/// How many pieces may be on their way to a listener before whoever has more to tell waits.
const MAX_ON_THE_WAY: usize = 8;

/// The pieces that a listener has been sent and has not heard yet.
#[derive(Debug, Default)]
pub struct Backlog {
    on_the_way: AtomicUsize,
    is_gone: AtomicBool,
    heard: Notify,
}

impl Backlog {
    /// Notes that a piece was sent.
    pub fn sent(&self) {
        self.on_the_way.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes that the listener is gone, and will hear nothing any more.
    pub fn gone(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.heard.notify_waiters();
    }

    /// Notes that a piece was heard.
    pub fn heard(&self) {
        self.on_the_way.fetch_sub(1, Ordering::AcqRel);
        self.heard.notify_waiters();
    }

    async fn caught_up(&self) {
        loop {
            let heard = self.heard.notified();
            let is_gone = self.is_gone.load(Ordering::Acquire);
            if is_gone || self.on_the_way.load(Ordering::Acquire) < MAX_ON_THE_WAY {
                return;
            }
            heard.await;
        }
    }
}

/// Takes progress; one that nobody listens to costs nothing.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<ProgressListener>);

#[derive(Clone)]
struct ProgressListener {
    tell: Arc<dyn Fn(Progress) + Send + Sync>,
    backlog: Option<Arc<Backlog>>,
}

impl ProgressSink {
    /// A sink that hands each piece to a function, which must not block.
    pub fn new(listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(ProgressListener { tell: Arc::new(listener), backlog: None }))
    }

    /// The same for a listener that is reached through a queue; it notes in the backlog what it has heard.
    pub fn queued(
        listener: impl Fn(Progress) + Send + Sync + 'static,
        backlog: Arc<Backlog>,
    ) -> Self {
        Self(Some(ProgressListener { tell: Arc::new(listener), backlog: Some(backlog) }))
    }

    /// Waits for a listener that is behind: whoever tells much must not fill the memory.
    pub async fn caught_up(&self) {
        if let Some(ProgressListener { backlog: Some(backlog), .. }) = &self.0 {
            backlog.caught_up().await;
        }
    }

    /// True when somebody listens.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Hands on one piece.
    pub fn send(&self, progress: Progress) {
        if let Some(listener) = &self.0 {
            (listener.tell)(progress);
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
    async fn nobody_waits_for_a_listener_that_is_gone() {
        let backlog = Arc::new(Backlog::default());
        for _ in 0..MAX_ON_THE_WAY {
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
