//! Servers over streamable HTTP. rmcp implements the protocol; this makes its HTTP requests.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, header::ACCEPT};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::{
        StreamableHttpClientTransport,
        common::http_header::{HEADER_LAST_EVENT_ID, HEADER_SESSION_ID},
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::Sse;
use toolwright_web::{WebSettings, service_client};

use super::{
    config::HttpAddress,
    http_answer::{EVENTS, HttpFailure, JSON, body, error_body, events, media_type, refusal},
    message_pipe::MAX_MESSAGE_BYTES,
};

/// How long a server may take to accept a message that needs no answer.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many calls of one server run at the same time.
const MAX_AT_ONCE: usize = 64;

type Failure = StreamableHttpError<HttpFailure>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Makes requests.
#[derive(Clone)]
pub(super) struct HttpRequests {
    client: Client,
}

/// Makes a transport to a server. Sends nothing yet.
pub(super) async fn open(
    address: &HttpAddress,
    web: &WebSettings,
) -> Result<StreamableHttpClientTransport<HttpRequests>, String> {
    let client = service_client(web, &address.url).await?;
    let config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(address.headers.clone())
        .max_concurrent_requests(MAX_AT_ONCE);
    Ok(StreamableHttpClientTransport::with_client(HttpRequests { client }, config))
}

impl HttpRequests {
    async fn send(&self, request: RequestBuilder, headers: Headers) -> Result<Response, Failure> {
        let mut request = request;
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send().await.map_err(|err| StreamableHttpError::Client(err.into()))
    }
}

fn failed(words: String) -> Failure {
    StreamableHttpError::Client(HttpFailure(words))
}

impl StreamableHttpClient for HttpRequests {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let text = serde_json::to_string(&message)?;
        let has_session = session_id.is_some();
        let mut request = self
            .client
            .post(&*uri)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"))
            .header(reqwest::header::CONTENT_TYPE, JSON)
            .body(text);
        if let Some(session) = session_id {
            request = request.header(HEADER_SESSION_ID, &*session);
        }
        let waits_for_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        let sending = self.send(request, headers);
        let response = if waits_for_answer {
            sending.await?
        } else {
            // rmcp sends these one after the other, so one that is never accepted would block all others.
            let accepted = tokio::time::timeout(ACCEPT_TIMEOUT, sending).await;
            accepted.map_err(|_| failed("it does not accept a message".to_owned()))??
        };
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(&message, response, has_session).await;
        }
        let session = response.headers().get(HEADER_SESSION_ID);
        let session = session.and_then(|it| it.to_str().ok()).map(str::to_owned);
        match media_type(&response).as_str() {
            EVENTS => Ok(StreamableHttpPostResponse::Sse(events(response), session)),
            JSON => {
                if !waits_for_answer {
                    return Ok(StreamableHttpPostResponse::Accepted);
                }
                let Some(body) = body(response).await.map_err(StreamableHttpError::Client)? else {
                    let limit = MAX_MESSAGE_BYTES;
                    let words = format!("its answer has more than {limit} bytes; ask for less");
                    return unusable_answer(&message, words, session);
                };
                match serde_json::from_slice(&body) {
                    Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
                    Err(cause) => {
                        let words = format!("its answer does not follow the protocol: {cause}");
                        unusable_answer(&message, words, session)
                    }
                }
            }
            _ if !waits_for_answer => Ok(StreamableHttpPostResponse::Accepted),
            other => Err(failed(format!(
                "its answer has the content type `{other}`, which the protocol does not allow; check its `url`"
            ))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let request = self.client.delete(&*uri).header(HEADER_SESSION_ID, &*session_id);
        // The status is ignored: it does not matter if the server keeps the session a while longer.
        self.send(request, headers).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = self.client.get(&*uri).header(ACCEPT, EVENTS);
        if let Some(session) = session_id {
            request = request.header(HEADER_SESSION_ID, &*session);
        }
        if let Some(last) = last_event_id {
            request = request.header(HEADER_LAST_EVENT_ID, last);
        }
        let response = self.send(request, headers).await?;
        let status = response.status();
        if status.is_success() && media_type(&response) == EVENTS {
            return Ok(events(response));
        }
        if status.is_client_error() || status.is_success() {
            // The server can still answer calls.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Err(failed(refusal(status, &error_body(response).await)))
    }
}

/// The outcome of a request whose answer cannot be used. If it is a call, only the call fails: the server works,
/// and other calls use the same connection.
fn unusable_answer(
    message: &ClientJsonRpcMessage,
    words: String,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::CallToolRequest(_)) =>
        {
            let error = ErrorData::internal_error(words, None);
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(answer, session))
        }
        _ => Err(failed(words)),
    }
}

/// The outcome of a request that was answered with an error status.
async fn refused(
    message: &ClientJsonRpcMessage,
    response: Response,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let body = error_body(response).await;
    let is_about_access = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let ClientJsonRpcMessage::Request(request) = message
        && !is_about_access
    {
        // Servers that do not support the newer era refuse its first request in many ways.
        let is_probe = matches!(request.request, ClientRequest::DiscoverRequest(_));
        match serde_json::from_str(&body) {
            // The server's error says more than the status. Its id may be missing or wrong.
            Ok(ServerJsonRpcMessage::Error(error)) => {
                let answer = ServerJsonRpcMessage::error(error.error, Some(request.id.clone()));
                return Ok(StreamableHttpPostResponse::Json(answer, None));
            }
            _ if is_probe && !has_session && status.is_client_error() => {
                let error = ErrorData::invalid_request(refusal(status, &body), None);
                let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                return Ok(StreamableHttpPostResponse::Json(answer, None));
            }
            _ => {}
        }
    }
    Err(failed(refusal(status, &body)))
}
