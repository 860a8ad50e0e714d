//! Reads HTTP answers of servers: bodies and streams of events, within limits.

use std::{fmt, io};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use reqwest::{Response, StatusCode, header::CONTENT_TYPE};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};
use toolwright_web::causes_in_words;

use super::{message_pipe::MAX_MESSAGE_BYTES, server_link::one_line};

/// How many bytes of an error's body are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The media types of answers.
pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// Why a request failed.
#[derive(Debug)]
pub(super) struct HttpFailure(pub(super) String);

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HttpFailure {}

impl From<reqwest::Error> for HttpFailure {
    fn from(error: reqwest::Error) -> Self {
        Self(causes_in_words(&error.without_url()))
    }
}

/// The media type of an answer, without its parameters.
pub(super) fn media_type(response: &Response) -> String {
    let header = response.headers().get(CONTENT_TYPE).map(|it| it.as_bytes().to_owned());
    let text = String::from_utf8_lossy(&header.unwrap_or_default()).to_ascii_lowercase();
    text.split(';').next().unwrap_or_default().trim().to_owned()
}

/// The whole body of an answer, or `None` if it is larger than a message may be.
pub(super) async fn body(response: Response) -> Result<Option<Vec<u8>>, HttpFailure> {
    let (body, was_cut) = beginning(response, MAX_MESSAGE_BYTES).await?;
    Ok((!was_cut).then_some(body))
}

/// The beginning of the body of an error.
pub(super) async fn error_body(response: Response) -> String {
    let read = beginning(response, MAX_ERROR_BYTES).await;
    read.map(|(body, _)| String::from_utf8_lossy(&body).into_owned()).unwrap_or_default()
}

async fn beginning(response: Response, limit: usize) -> Result<(Vec<u8>, bool), HttpFailure> {
    let mut pieces = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        let room = limit.saturating_sub(body.len());
        body.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        if piece.len() > room {
            return Ok((body, true));
        }
    }
    Ok((body, false))
}

/// An error message for a status, with the beginning of the body.
pub(super) fn refusal(status: StatusCode, body: &str) -> String {
    let reason = status.canonical_reason().unwrap_or_default();
    let code = status.as_u16();
    let next = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; give it a token in `headers`, such as `Authorization`"
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; check its `url` and `type`",
        it if it.is_redirection() => "; it redirects to another URL, so use that as `url`",
        _ => "",
    };
    let body = one_line(body);
    let body = if body.is_empty() { body } else { format!(": {body}") };
    format!("it answers with HTTP {code} {reason}{body}{next}")
}

/// The events of an answer, each limited to the size of a message.
pub(super) fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    SseStream::from_bytes_stream(bounded(response.bytes_stream())).boxed()
}

/// Ends a stream with an error once an event is too long, before all of it is in memory.
fn bounded<Pieces>(pieces: Pieces) -> impl Stream<Item = Result<Bytes, io::Error>> + Send
where
    Pieces: Stream<Item = Result<Bytes, reqwest::Error>> + Send,
{
    let mut size = EventSize::default();
    pieces.map(move |piece| {
        let piece = piece.map_err(|err| io::Error::other(HttpFailure::from(err)))?;
        if size.add(&piece) > MAX_MESSAGE_BYTES {
            return Err(io::Error::other("an event of its stream is too long"));
        }
        Ok(piece)
    })
}

/// Counts the bytes since the last empty line, which ends an event.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    line_is_empty: bool,
}

impl EventSize {
    fn add(&mut self, piece: &[u8]) -> usize {
        let mut largest = 0;
        for byte in piece {
            self.bytes += 1;
            match byte {
                b'\n' if self.line_is_empty => self.bytes = 0,
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
            largest = largest.max(self.bytes);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_measured_across_pieces_until_its_empty_line() {
        let mut size = EventSize::default();
        assert_eq!(size.add(b"data: 1234"), 10);
        assert_eq!(size.add(b"5678\r\n"), 16);
        assert_eq!(size.add(b"\r\ndata: 1"), 17);
        assert_eq!(size.add(b"\n"), 8);
    }
}
