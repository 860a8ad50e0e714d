//! The progress and the result of a call as a stream of events.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderValue, header};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Interval, MissedTickBehavior},
};
use tokio_util::sync::DropGuard;
use toolwright_core::{Backlog, Progress, ProgressSink, ToolOutput};

use super::calls::{ended, result_json};

/// How often an idle stream sends a comment, so that proxies do not close the connection.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How many bytes of progress are queued for a client that does not read. Tools that can wait are slowed
/// down much earlier. Progress beyond the limit is dropped from the stream, but not from the result.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// One server-sent event. The data must be JSON, which has no line breaks.
pub(super) fn event_text(name: &str, json: &str) -> Bytes {
    format!("event: {name}\ndata: {json}\n\n").into()
}

/// A response that streams server-sent events.
pub(super) fn events_answer(
    events: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response {
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Buffering proxies would delay the events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The events of one call.
pub(super) struct CallEvents {
    progress: mpsc::UnboundedReceiver<Bytes>,
    waiting: Arc<WaitingProgress>,
    /// The call, until it has ended.
    running: Option<JoinHandle<ToolOutput>>,
    /// Its result, until it is sent.
    output: Option<ToolOutput>,
    keep_alive: Interval,
    /// Cancels the call when the stream is dropped.
    _client_gone: DropGuard,
}

/// The progress that the client has not read yet.
#[derive(Default)]
struct WaitingProgress {
    backlog: Arc<Backlog>,
    bytes: AtomicUsize,
}

impl CallEvents {
    /// Starts a call and collects its events.
    pub(super) fn of(
        client_gone: DropGuard,
        start: impl FnOnce(ProgressSink) -> JoinHandle<ToolOutput>,
    ) -> Self {
        let (sender, progress) = mpsc::unbounded_channel();
        let waiting = Arc::new(WaitingProgress::default());
        let (queue, backlog) = (Arc::clone(&waiting), Arc::clone(&waiting.backlog));
        let send = move |news: Progress| {
            let is_frame = matches!(news, Progress::Start { .. } | Progress::End { .. });
            if !is_frame && queue.bytes.load(Ordering::Relaxed) > MAX_WAITING_BYTES {
                return;
            }
            let Ok(json) = serde_json::to_string(&news) else { return };
            let event = event_text("progress", &json);
            queue.bytes.fetch_add(event.len(), Ordering::Relaxed);
            queue.backlog.sent();
            if sender.send(event).is_err() {
                queue.backlog.gone();
            }
        };
        let running = Some(start(ProgressSink::queued(send, backlog)));
        let mut keep_alive =
            tokio::time::interval_at(tokio::time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { progress, waiting, running, output: None, keep_alive, _client_gone: client_gone }
    }

    /// The stream as a response.
    pub(super) fn answer(self) -> Response {
        events_answer(self)
    }
}

impl Stream for CallEvents {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // Polled before the progress, so that all progress before the end is sent before the result.
        if let Some(running) = &mut self.running
            && let Poll::Ready(joined) = Pin::new(running).poll(cx)
        {
            self.running = None;
            self.output = Some(ended(joined));
        }
        if self.running.is_none() && self.output.is_none() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(Some(event)) = self.progress.poll_recv(cx) {
            self.waiting.bytes.fetch_sub(event.len(), Ordering::Relaxed);
            self.waiting.backlog.handled();
            self.keep_alive.reset();
            return Poll::Ready(Some(Ok(event)));
        }
        if let Some(output) = self.output.take() {
            return Poll::Ready(Some(Ok(event_text("result", &result_json(&output)))));
        }
        let tick = self.keep_alive.poll_tick(cx);
        tick.map(|_| Some(Ok(Bytes::from_static(b": the call runs\n\n"))))
    }
}

impl Drop for CallEvents {
    fn drop(&mut self) {
        self.waiting.backlog.gone();
    }
}
