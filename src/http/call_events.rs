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

use super::calls::{ended, result_json};
use crate::tool::{Backlog, Progress, ProgressSink, ToolOutput};

/// How often a stream without news sends a comment, so that nobody on the way takes it for dead.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// How many bytes of progress wait for a client that does not read. Tools that can wait do so much earlier;
/// what the others tell beyond it is left out of the stream, and not of the result.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// One event, as a stream of events writes it. The data have to be JSON, which has no line breaks.
pub(super) fn event_text(name: &str, json: &str) -> Bytes {
    format!("event: {name}\ndata: {json}\n\n").into()
}

/// An answer that is a stream of events.
pub(super) fn events_answer(
    events: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response {
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies that collect answers would hold the events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The events of one call.
pub(super) struct CallEvents {
    progress: mpsc::UnboundedReceiver<Bytes>,
    waiting: Arc<WaitingProgress>,
    /// The call, until it has ended.
    running: Option<JoinHandle<ToolOutput>>,
    /// What it ended with, until that is sent.
    output: Option<ToolOutput>,
    sign_of_life: Interval,
    /// Cancels the call when the stream is dropped.
    _client_gone: DropGuard,
}

/// The progress that the client has not taken yet.
#[derive(Default)]
struct WaitingProgress {
    backlog: Arc<Backlog>,
    bytes: AtomicUsize,
}

impl CallEvents {
    /// Starts a call and listens to it.
    pub(super) fn of(
        client_gone: DropGuard,
        start: impl FnOnce(ProgressSink) -> JoinHandle<ToolOutput>,
    ) -> Self {
        let (sender, progress) = mpsc::unbounded_channel();
        let waiting = Arc::new(WaitingProgress::default());
        let (told, backlog) = (Arc::clone(&waiting), Arc::clone(&waiting.backlog));
        let tell = move |news: Progress| {
            let is_frame = matches!(news, Progress::Start { .. } | Progress::End { .. });
            if !is_frame && told.bytes.load(Ordering::Relaxed) > MAX_WAITING_BYTES {
                return;
            }
            let Ok(json) = serde_json::to_string(&news) else { return };
            let event = event_text("progress", &json);
            told.bytes.fetch_add(event.len(), Ordering::Relaxed);
            told.backlog.sent();
            if sender.send(event).is_err() {
                told.backlog.gone();
            }
        };
        let running = Some(start(ProgressSink::queued(tell, backlog)));
        let mut sign_of_life =
            tokio::time::interval_at(tokio::time::Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
        sign_of_life.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { progress, waiting, running, output: None, sign_of_life, _client_gone: client_gone }
    }

    /// The stream as an answer.
    pub(super) fn answer(self) -> Response {
        events_answer(self)
    }
}

impl Stream for CallEvents {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // Looked at before the progress, so that all that was told before the end is sent before it.
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
            self.sign_of_life.reset();
            return Poll::Ready(Some(Ok(event)));
        }
        if let Some(output) = self.output.take() {
            return Poll::Ready(Some(Ok(event_text("result", &result_json(&output)))));
        }
        let sign = self.sign_of_life.poll_tick(cx);
        sign.map(|_| Some(Ok(Bytes::from_static(b": the call runs\n\n"))))
    }
}

impl Drop for CallEvents {
    fn drop(&mut self) {
        self.waiting.backlog.gone();
    }
}
