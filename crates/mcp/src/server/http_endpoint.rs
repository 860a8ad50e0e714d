//! Answers MCP clients over HTTP, in both eras of the protocol.
//!
//! The HTTP service has already checked the token, the host name and the origin.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use rmcp::{
    model::{ClientJsonRpcMessage, ProtocolVersion},
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    http_sessions::HttpSessions,
    request_handler::McpServer,
    unreadable::{unknown_method, unreadable},
};

/// The header in which a client names the version of the protocol.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// The registry's tools over HTTP.
pub struct HttpEndpoint {
    rmcp: StreamableHttpService<McpServer, HttpSessions>,
    sessions: Arc<HttpSessions>,
    closing: CancellationToken,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl HttpEndpoint {
    /// Opens the endpoint. The calls of clients without a session belong to the session of `tools`. `names`
    /// returns the id of each new session. All sessions end when `closing` is cancelled.
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
            .with_max_request_body_bytes(usize::MAX)
            .with_json_response(true);
        let make_server = move || Ok(server.clone());
        let rmcp = StreamableHttpService::new(make_server, Arc::clone(&sessions), config);
        Self { rmcp, sessions, closing }
    }

    /// Answers one request, whose body has been limited. Dropping the future or the body of the answer cancels
    /// the call of a client without a session. A client with a session can reconnect for the answer.
    pub async fn answer(&self, request: Request<Bytes>) -> Answer {
        if self.closing.is_cancelled() {
            let gone = "the registry is closed; create a new one";
            return refused(StatusCode::SERVICE_UNAVAILABLE, gone, "RegistryClosed");
        }
        let (mut parts, body) = request.into_parts();
        // rmcp requires a host, although it has been checked already.
        if !parts.headers.contains_key(header::HOST) && parts.uri.authority().is_none() {
            parts.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        }
        if let Some(refusal) = handshake_of_new_era(&parts, &body) {
            return message(StatusCode::NOT_FOUND, refusal);
        }
        let answer = self.rmcp.handle(Request::from_parts(parts, Full::new(body.clone()))).await;
        match answer.status() {
            // rmcp uses this status both for a wrong content type and for a body that it could not parse.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
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

/// The answer to `initialize` in the new era, which has no handshake.
fn handshake_of_new_era(parts: &Parts, body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct MessageHead {
        method: String,
        id: Value,
    }
    let version = parts.headers.get(VERSION_HEADER)?.to_str().ok()?;
    let is_new = version >= ProtocolVersion::V_2026_07_28.as_str();
    // This search avoids parsing most messages twice.
    if !is_new || memchr::memmem::find(body, b"\"initialize\"").is_none() {
        return None;
    }
    let head: MessageHead = serde_json::from_slice(body).ok()?;
    let problem = format!("`initialize` is not a method of `{version}`; ask `server/discover`");
    (head.method == "initialize").then(|| unknown_method(&head.id, &problem))
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
