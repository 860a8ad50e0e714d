//! Answers MCP clients over HTTP, of both eras of the protocol.
//!
//! Who may ask, and by which name the server may be addressed, is checked in front of this.

use std::{convert::Infallible, fmt::Display, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited, combinators::BoxBody};
use hyper::body::Body;
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    http_sessions::HttpSessions,
    request_handler::McpServer,
    unreadable::{too_long, unreadable},
};

/// The longest body of a request.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// The registry's tools over HTTP.
pub struct HttpDoor {
    rmcp: StreamableHttpService<McpServer, HttpSessions>,
    sessions: Arc<HttpSessions>,
    closing: CancellationToken,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl HttpDoor {
    /// Opens the door. The calls of clients without a session belong to the session of `tools`; `names` gives
    /// the id for each other one. All sessions end when `closing` is cancelled.
    pub fn open(
        tools: ServedTools,
        names: Box<dyn Fn() -> String + Send + Sync>,
        closing: CancellationToken,
    ) -> Self {
        let sessions = HttpSessions::new(names, closing.clone());
        let server = McpServer::over_http(tools, Arc::clone(&sessions), closing.clone());
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(MAX_BODY)
            .with_json_response(true);
        let make_server = move || Ok(server.clone());
        let rmcp = StreamableHttpService::new(make_server, Arc::clone(&sessions), config);
        Self { rmcp, sessions, closing }
    }

    /// Answers one request. Dropping the future or the body of the answer cancels the call of a client without
    /// a session; one with a session may come back for the answer.
    pub async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
    {
        if self.closing.is_cancelled() {
            let gone = "the registry is closed; create a new one";
            return refused(StatusCode::SERVICE_UNAVAILABLE, gone, "RegistryClosed");
        }
        let (mut parts, body) = request.into_parts();
        // rmcp wants one, though there is nothing left to check.
        if !parts.headers.contains_key(header::HOST) && parts.uri.authority().is_none() {
            parts.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        }
        if parts.method != Method::POST {
            return self.rmcp.handle(Request::from_parts(parts, Full::new(Bytes::new()))).await;
        }
        let body = match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return message(StatusCode::PAYLOAD_TOO_LARGE, too_long(MAX_BODY));
            }
            Err(error) => {
                let problem = format!("the request's body could not be read: {error}");
                return refused(StatusCode::BAD_REQUEST, &problem, "InvalidRequest");
            }
        };
        let is_json = parts
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let answer = self.rmcp.handle(request).await;
        match answer.status() {
            // rmcp says the same of a wrong type and of a body that it could not read.
            StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
                match serde_json::from_slice::<ClientJsonRpcMessage>(&body) {
                    Err(error) => message(StatusCode::BAD_REQUEST, unreadable(&body, &error)),
                    Ok(_) => answer,
                }
            }
            StatusCode::INTERNAL_SERVER_ERROR if self.sessions.is_full() => {
                let problem = "every session is in use; end one with DELETE, or try again later";
                refused(StatusCode::SERVICE_UNAVAILABLE, problem, "TooManySessions")
            }
            _ => answer,
        }
    }
}

fn refused(status: StatusCode, problem: &str, kind: &str) -> Answer {
    message(status, json!({ "error": problem, "type": kind }).to_string())
}

fn message(status: StatusCode, json: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(json)).boxed());
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
