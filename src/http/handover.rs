//! Requests that a host's own server hands over, and their answers.
//!
//! A web-standard `Request` or `Response` stays in JavaScript. Here are its parts: a head as JSON text, and a body
//! as bytes, which leaves in pieces as they are asked for.

use std::{
    panic::AssertUnwindSafe,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    response::{IntoResponse as _, Response},
};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header::HOST};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::{Position, Url};

use super::{HttpService, answers::HttpRefusal};
use crate::error::{ErrorKind, ToolError};

/// The head of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestHead {
    method: String,
    /// The whole address.
    url: String,
    headers: Vec<(String, String)>,
    /// The path below which the host has mounted the routes.
    #[serde(default)]
    base_path: String,
}

impl RequestHead {
    /// Text that is no head is told to the client: a header with half a character is not the host's doing.
    fn parse(json: &str) -> Result<Self, HttpRefusal> {
        serde_json::from_str(json).map_err(|_| malformed("the head of the request is malformed"))
    }

    /// The request, or why it cannot be understood.
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
        // The address is what the host's server has made of the request, so it says which name was asked for.
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        let parts = Uri::builder().scheme(url.scheme()).authority(authority).path_and_query(path);
        let (Ok(uri), Ok(host)) = (parts.build(), HeaderValue::from_str(authority)) else {
            return Err(malformed("the address of the request is not one of HTTP"));
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

/// The path and query of an address below a base path.
fn below(url: &Url, base: &str) -> Option<String> {
    let whole = &url[Position::BeforePath..Position::AfterQuery];
    let rest = whole.strip_prefix(base.trim_end_matches('/'))?;
    match rest.as_bytes().first() {
        Some(b'/') => Some(rest.to_owned()),
        None | Some(b'?') => Some(format!("/{rest}")),
        Some(_) => None,
    }
}

/// Adds a header. JavaScript has a character for each byte of a value.
fn add(headers: &mut HeaderMap, name: &str, value: &str) -> Option<()> {
    let bytes: Vec<u8> = value.chars().map(u8::try_from).collect::<Result<_, _>>().ok()?;
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    headers.try_append(name, HeaderValue::from_bytes(&bytes).ok()?).ok()?;
    Some(())
}

/// The host's server stays open when the registry is closed.
fn refuse_when_closed(service: &HttpService) -> Result<(), HttpRefusal> {
    Ok(service.state.registry.pipeline.refuse_when_closed()?)
}

async fn answer(service: &HttpService, head: &str, body: Bytes) -> Result<Response, HttpRefusal> {
    refuse_when_closed(service)?;
    Ok(service.answer(RequestHead::parse(head)?.with_body(body)?).await)
}

/// An answer on its way to the host. Dropping it drops what the answer is made from.
pub struct HandedAnswer {
    status: StatusCode,
    headers: HeaderMap,
    /// Nothing while a piece is being read, and once the body has ended.
    body: Mutex<Option<Body>>,
    cancelled: CancellationToken,
}

impl HandedAnswer {
    /// Answers a request with a head of `{ method, url, headers, basePath }` as JSON. Once cancelled, whatever
    /// it began ends.
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

    /// The answer to a request that is refused by its head, so that nobody has to read its body.
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
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status, parts.headers);
        Self { status, headers, body: Mutex::new(Some(body)), cancelled }
    }

    /// `{ status, headers, isWhole }` as JSON.
    pub fn head(&self) -> String {
        let text = |it: &HeaderValue| it.as_bytes().iter().copied().map(char::from).collect();
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
        let is_whole = self.body().as_ref().is_none_or(|it| it.size_hint().exact().is_some());
        json!({ "status": self.status.as_u16(), "headers": headers, "isWhole": is_whole })
            .to_string()
    }

    /// The body of an answer that is in memory already, or nothing where it has to be read in pieces.
    pub fn whole(&self) -> Option<Bytes> {
        let body = self.body().take_if(|it| it.size_hint().exact().is_some())?;
        // In memory, so it is there at once.
        body.collect().now_or_never()?.ok().map(http_body_util::Collected::to_bytes)
    }

    /// The next piece of the body; nothing at its end, or once it was cancelled.
    pub async fn next(&self) -> Result<Option<Bytes>, axum::Error> {
        let taken = self.body().take();
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
            // Trailers have no place in a `Response`, and an empty piece says nothing.
            if let Some(data) = frame.into_data().ok().filter(|it| !it.is_empty()) {
                let mut slot = self.body();
                // Whoever cancelled it meanwhile found no body to drop.
                if !self.cancelled.is_cancelled() {
                    *slot = Some(body);
                }
                return Ok(Some(data));
            }
        }
    }

    /// Ends the answer, and what it is made from.
    pub fn cancel(&self) {
        self.cancelled.cancel();
        drop(self.body().take());
    }

    fn body(&self) -> MutexGuard<'_, Option<Body>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
