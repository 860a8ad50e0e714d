//! Request bodies: limited in size and time, and parsed as JSON.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{FromRequest, Request},
};
use bytes::Bytes;
use http::{StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde::Deserialize;
use tokio::time::{Sleep, sleep};
use toolwright_base::ErrorKind;
use toolwright_host::parsed;

use super::answers::HttpRefusal;

/// The maximum size of a body.
pub(super) const MAX_BODY_BYTES: u64 = 8 * 1024 * 1024;
/// How long a body may take to arrive.
const MAX_BODY_TIME: Duration = Duration::from_secs(30);

/// Refuses a body whose declared size is too large, before any of it is read.
pub(super) fn check_declared_size(request: &Parts) -> Result<(), HttpRefusal> {
    let declared = request.headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|it| it.to_str().ok()).and_then(|it| it.parse::<u64>().ok());
    match declared {
        Some(bytes) if bytes > MAX_BODY_BYTES => Err(too_large()),
        _ => Ok(()),
    }
}

fn too_large() -> HttpRefusal {
    let message = format!(
        "the body is larger than the maximum of `{MAX_BODY_BYTES}` bytes; pass large content in several \
         calls, or in a file"
    );
    HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "BodyTooLarge", message)
}

/// Why reading a body was aborted.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyCut {
    /// It has more than [`MAX_BODY_BYTES`].
    #[error("the body is too large")]
    TooLarge,
    /// It takes longer than [`MAX_BODY_TIME`].
    #[error("the body takes too long")]
    TooSlow,
    /// The connection broke, or what arrived is not HTTP.
    #[error("the body cannot be read: {0}")]
    Broken(axum::Error),
}

/// A body that fails when it is too large or takes too long.
pub(super) struct BoundedBody {
    body: Body,
    left: u64,
    too_slow: Option<Pin<Box<Sleep>>>,
}

impl BoundedBody {
    pub(super) fn new(body: Body) -> Self {
        Self { body, left: MAX_BODY_BYTES, too_slow: None }
    }
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = BodyCut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyCut>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => {
                // The timer starts here, because most bodies are available at once and need none.
                let too_slow = self.too_slow.get_or_insert_with(|| Box::pin(sleep(MAX_BODY_TIME)));
                too_slow.as_mut().poll(cx).map(|()| Some(Err(BodyCut::TooSlow)))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, |it| it.len() as u64);
                Poll::Ready(Some(match self.left.checked_sub(bytes) {
                    Some(left) => {
                        self.left = left;
                        Ok(frame)
                    }
                    None => Err(BodyCut::TooLarge),
                }))
            }
            Poll::Ready(Some(Err(err))) => Poll::Ready(Some(Err(BodyCut::Broken(err)))),
            Poll::Ready(None) => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The whole body as it is.
pub(super) struct BodyBytes(pub(super) Bytes);

impl<S: Sync> FromRequest<S> for BodyBytes {
    type Rejection = HttpRefusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, HttpRefusal> {
        let body = request.into_body().collect().await.map_err(|err| cut_body(&err))?;
        Ok(Self(body.to_bytes()))
    }
}

/// The text of a body. The route parses it.
pub(super) struct BodyText(pub(super) String);

impl<S: Sync> FromRequest<S> for BodyText {
    type Rejection = HttpRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpRefusal> {
        let BodyBytes(body) = BodyBytes::from_request(request, state).await?;
        String::from_utf8(body.into())
            .map(Self)
            .map_err(|_| HttpRefusal::bad_body("the body is not UTF-8; send JSON"))
    }
}

/// Parses the JSON object of a body. An error says what to send instead.
pub(super) fn read_body<'a, T: Deserialize<'a>>(
    body: &'a str,
    form: &str,
) -> Result<T, HttpRefusal> {
    let refused = |cause: &str| HttpRefusal::bad_body(format!("{cause}; send {form}"));
    match body.trim_start().chars().next() {
        None => Err(refused("the body is empty")),
        // serde would accept an array and use its items as the fields.
        Some('[') => Err(refused("the body is an array")),
        Some(_) => parsed(body, ErrorKind::Validation)
            .map_err(|err| refused(&format!("the body cannot be used: {}", err.message))),
    }
}

/// The refusal for a body that could not be read. Searches the chain of causes for a [`BodyCut`].
fn cut_body(err: &(dyn std::error::Error + 'static)) -> HttpRefusal {
    let mut cause = Some(err);
    while let Some(err) = cause {
        match err.downcast_ref::<BodyCut>() {
            Some(BodyCut::TooLarge) => return too_large(),
            Some(BodyCut::TooSlow) => {
                let seconds = MAX_BODY_TIME.as_secs();
                let message =
                    format!("the body took longer than {seconds} s to arrive; send it at once");
                return HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "BodyTimeout", message);
            }
            Some(BodyCut::Broken(_)) | None => cause = err.source(),
        }
    }
    HttpRefusal::bad_body("the body ended too early; send it again")
}
