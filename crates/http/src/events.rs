//! The events of a registry as a stream. A client that reconnects gets the events it missed, or a `gap`
//! event if they are no longer kept.

use std::{convert::Infallible, fmt::Write as _, pin::Pin};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, StatusCode};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_host::{LogPart, LogReader};
use toolwright_pipeline::Responder;

use super::{
    answers::HttpRefusal,
    call_events::{KEEP_ALIVE, events_answer},
    service::ServiceState,
};

/// How many bytes of events are written at a time. The rest stays in the log.
const MAX_WRITTEN_BYTES: usize = 64 * 1024;
/// How long clients wait before they reconnect, in milliseconds.
const RECONNECT_AFTER_MS: u32 = 1_000;

pub(super) async fn stream(
    State(state): State<ServiceState>,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    let pipeline = &state.registry.pipeline;
    pipeline.refuse_when_closed()?;
    let reader = state.registry.events().join().ok_or_else(|| {
        let message = "too many streams of events are open; close one of them";
        HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "TooManyStreams", message)
    })?;
    let mut tools = pipeline.registry.changes();
    let log = reader.log();
    log.note_tools(*tools.borrow_and_update());
    let (news, last) = (log.watch(), log.last());
    let last_seen = headers.get("last-event-id");
    let seen = last_seen.map(|it| it.to_str().ok().and_then(|it| log.position(it)));
    let position = seen.flatten().unwrap_or(last);
    let mut greeting = format!("retry: {RECONNECT_AFTER_MS}\nid: {}\n\n", log.id(position));
    if seen == Some(None) {
        // The id belongs to another log, so the client has seen nothing of this one.
        write_gap(&mut greeting, &log.id(last), last);
    }
    let followed = FollowedLog {
        greeting: Some(greeting),
        position,
        news,
        tools,
        closing: Box::pin(pipeline.until_closed()),
        ending: state.ending.clone(),
        is_over: false,
        reader,
        _responder: pipeline.confirmations.bus().add_responder(),
    };
    Ok(events_answer(unfold(followed, async |mut followed| {
        let text = followed.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), followed))
    })))
}

/// The log as one client reads it. Only the position is kept for the client.
struct FollowedLog {
    /// Sent first.
    greeting: Option<String>,
    position: u64,
    news: watch::Receiver<u64>,
    tools: watch::Receiver<u64>,
    closing: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
    ending: CancellationToken,
    is_over: bool,
    reader: LogReader,
    /// A client that reads the events sees the confirmation requests and may answer them.
    _responder: Responder,
}

impl FollowedLog {
    /// The next text of the stream, or `None` once the registry is closed and everything is sent.
    async fn next(&mut self) -> Option<String> {
        if let Some(greeting) = self.greeting.take() {
            return Some(greeting);
        }
        loop {
            self.news.borrow_and_update();
            let part = self.reader.log().after(self.position, MAX_WRITTEN_BYTES);
            if let Some(text) = self.written(&part) {
                return Some(text);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                biased;
                () = &mut self.closing => self.is_over = true,
                () = self.ending.cancelled() => self.is_over = true,
                changed = self.tools.changed() => match changed {
                    Ok(()) => self.reader.log().note_tools(*self.tools.borrow_and_update()),
                    // The registry is gone.
                    Err(_) => self.is_over = true,
                },
                changed = self.news.changed() => self.is_over = changed.is_err(),
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(": nothing new\n\n".to_owned()),
            }
        }
    }

    /// The events as text. Moves the position past them.
    fn written(&mut self, part: &LogPart) -> Option<String> {
        let log = self.reader.log();
        let mut text = String::new();
        if part.missed > 0 {
            self.position += part.missed;
            write_gap(&mut text, &log.id(self.position), part.missed);
        }
        for event in &part.events {
            self.position = event.number;
            write_event(&mut text, &log.id(event.number), event.kind.as_str(), &event.data);
        }
        (!text.is_empty()).then_some(text)
    }
}

fn write_gap(text: &mut String, id: &str, missed: u64) {
    write_event(text, id, "gap", &format!("{{\"missed\":{missed}}}"));
}

/// The data must be JSON, which has no line breaks.
fn write_event(text: &mut String, id: &str, name: &str, json: &str) {
    // Writing to a string does not fail.
    let _ = write!(text, "id: {id}\nevent: {name}\ndata: {json}\n\n");
}
