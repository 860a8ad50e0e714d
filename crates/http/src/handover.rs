//! Requests that the host's own server hands over through `fetch`, and their answers.
//!
//! The web-standard `Request` and `Response` stay in JavaScript. Only their parts cross: the head as JSON
//! text, and the body as bytes. The body of an answer crosses in chunks, on demand.

use std::panic::AssertUnwindSafe;

use axum::{
    body::{Body, Bytes, HttpBody as _},
    response::{IntoResponse as _, Response},
};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header::HOST};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use url::{Position, Url};

use super::{HttpService, answers::HttpRefusal, service::with_safe_headers};

/// The head of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestHead {
    method: String,
    /// The full URL.
    url: String,
    headers: Vec<(String, String)>,
    /// The path under which the host has mounted the routes.
    #[serde(default)]
    base_path: String,
}

impl RequestHead {
    /// Invalid JSON is reported to the client and not to the host: the cause can be a header of the client
    /// that contains half a surrogate pair.
    fn parse(json: &str) -> Result<Self, HttpRefusal> {
        serde_json::from_str(json).map_err(|_| malformed("the head of the request is malformed"))
    }

    /// The request, or why it is malformed.
    fn with_body(self, body: Bytes) -> Result<Request<Body>, HttpRefusal> {
        let Some(url) = Url::parse(&self.url).ok().filter(Url::has_host) else {
            return Err(malformed("the address of the request is not a URL with a host"));
        };
        let Ok(method) = Method::from_bytes(self.method.as_bytes()) else {
            return Err(malformed("the method of the request is not a word"));
        };
        let path = below(&url, &self.base_path).ok_or_else(|| {
            let base = &self.base_path;
            HttpRefusal::not_found(format!("the path is not below `{base}`, where the routes are"))
        })?;
        // The host's server built the URL from the request, so it contains the name that was addressed.
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        let parts = Uri::builder().scheme(url.scheme()).authority(authority).path_and_query(path);
        let (Ok(uri), Ok(host)) = (parts.build(), HeaderValue::from_str(authority)) else {
            return Err(malformed("the address of the request is not a valid HTTP URL"));
        };
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        for (name, value) in &self.headers {
            if add(headers, name, value).is_none() {
                return Err(malformed("a header is malformed, or there are too many"));
            }
        }
        headers.insert(HOST, host);
        Ok(request)
    }
}

fn malformed(message: &str) -> HttpRefusal {
    HttpRefusal::new(StatusCode::BAD_REQUEST, "InvalidRequest", message)
}

/// The path and query of a URL, relative to a base path.
fn below(url: &Url, base: &str) -> Option<String> {
    let whole = &url[Position::BeforePath..Position::AfterQuery];
    let rest = whole.strip_prefix(base.trim_end_matches('/'))?;
    match rest.as_bytes().first() {
        Some(b'/') => Some(rest.to_owned()),
        None | Some(b'?') => Some(format!("/{rest}")),
        Some(_) => None,
    }
}

/// Adds a header. In JavaScript, each character of a header value stands for one byte.
fn add(headers: &mut HeaderMap, name: &str, value: &str) -> Option<()> {
    let bytes: Vec<u8> = value.chars().map(u8::try_from).collect::<Result<_, _>>().ok()?;
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    headers.try_append(name, HeaderValue::from_bytes(&bytes).ok()?).ok()?;
    Some(())
}

/// Needed because the host's server stays open when the registry is closed.
fn refuse_when_closed(service: &HttpService) -> Result<(), HttpRefusal> {
    Ok(service.state.registry.pipeline.refuse_when_closed()?)
}

async fn answer(service: &HttpService, head: &str, body: Bytes) -> Result<Response, HttpRefusal> {
    refuse_when_closed(service)?;
    Ok(service.answer(RequestHead::parse(head)?.with_body(body)?).await)
}

/// An answer for the host. Dropping it cancels the work behind the answer.
pub struct HandedAnswer {
    status: StatusCode,
    headers: HeaderMap,
    /// `None` while a chunk is being read, and once the body has ended.
    body: Mutex<Option<Body>>,
    cancelled: CancellationToken,
}

impl HandedAnswer {
    /// Answers a request with a head of `{ method, url, headers, basePath }` as JSON. Cancelling ends
    /// everything that the request started.
    pub async fn of(
        service: &HttpService,
        head: &str,
        body: Bytes,
        cancelled: CancellationToken,
    ) -> Self {
        let answer = AssertUnwindSafe(answer(service, head, body)).catch_unwind();
        let answered = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                let gone = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
                Err(HttpRefusal::new(gone, "Cancelled", "the client has gone"))
            }
            answered = answer => answered.unwrap_or_else(|_| {
                let message = "the request could not be answered; this is a bug, please report it";
                Err(ToolError::new(ErrorKind::Internal, message).into())
            }),
        };
        Self::of_response(answered.unwrap_or_else(HttpRefusal::into_response), cancelled)
    }

    /// The answer to a request that is refused by its head, so that its body need not be read.
    pub fn refusal(service: &HttpService, head: &str) -> Option<Self> {
        let refused = (|| {
            refuse_when_closed(service)?;
            let (parts, _) = RequestHead::parse(head)?.with_body(Bytes::new())?.into_parts();
            service.check(&parts)
        })();
        let response = refused.err()?.into_response();
        Some(Self::of_response(response, CancellationToken::new()))
    }

    fn of_response(response: Response, cancelled: CancellationToken) -> Self {
        let (parts, body) = with_safe_headers(response).into_parts();
        let (status, headers) = (parts.status, parts.headers);
        Self { status, headers, body: Mutex::new(Some(body)), cancelled }
    }

    /// `{ status, headers, isWhole }` as JSON.
    pub fn head(&self) -> String {
        let text = |it: &HeaderValue| it.as_bytes().iter().copied().map(char::from).collect();
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
        let is_whole = self.body.lock().as_ref().is_none_or(|it| it.size_hint().exact().is_some());
        json!({ "status": self.status.as_u16(), "headers": headers, "isWhole": is_whole })
            .to_string()
    }

    /// The body of an answer that is already in memory, or `None` if it has to be read in chunks.
    pub fn whole(&self) -> Option<Bytes> {
        let body = self.body.lock().take_if(|it| it.size_hint().exact().is_some())?;
        // In memory, so it is ready at once.
        body.collect().now_or_never()?.ok().map(http_body_util::Collected::to_bytes)
    }

    /// The next chunk of the body, or `None` at its end or after a cancellation.
    pub async fn next(&self) -> Result<Option<Bytes>, axum::Error> {
        let taken = self.body.lock().take();
        let Some(mut body) = taken else { return Ok(None) };
        loop {
            let frame = tokio::select! {
                biased;
                () = self.cancelled.cancelled() => return Ok(None),
                frame = AssertUnwindSafe(body.frame()).catch_unwind() => frame,
            };
            let frame = match frame {
                Ok(Some(frame)) => frame?,
                Ok(None) => return Ok(None),
                Err(_) => return Err(axum::Error::new("the answer panicked; this is a bug")),
            };
            // A `Response` has no trailers, and empty chunks are skipped.
            if let Some(data) = frame.into_data().ok().filter(|it| !it.is_empty()) {
                let mut slot = self.body.lock();
                // If `cancel` ran meanwhile, it found no body to drop.
                if !self.cancelled.is_cancelled() {
                    *slot = Some(body);
                }
                return Ok(Some(data));
            }
        }
    }

    /// Ends the answer and cancels the work behind it.
    pub fn cancel(&self) {
        self.cancelled.cancel();
        drop(self.body.lock().take());
    }
}
