//! Servers over HTTP as it was before streamable HTTP: one stream of events from the server, whose first event
//! says where messages to it are posted.

use std::time::Duration;

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{Client, header::ACCEPT};
use rmcp::{
    RoleClient, model::JsonRpcMessage, service::TxJsonRpcMessage,
    transport::streamable_http_client::SseError,
};
use sse_stream::Sse;
use tokio::{sync::mpsc, task::AbortHandle};
use url::Url;

use super::{
    config::HttpAddress,
    http_answer::{EVENTS, HttpFailure, JSON, error_body, events, media_type, refusal},
    message_pipe::{IncomingMessages, MessagePipe, NotPassedOn, PipeEnd},
};
use crate::net::{WebSettings, service_client};

/// How long the last messages of a closed connection may take.
const LAST_MESSAGES: Duration = Duration::from_secs(2);

/// The events of the stream.
type EventStream = BoxStream<'static, Result<Sse, SseError>>;

/// Opens the stream and waits for its first event.
pub(super) async fn open(address: &HttpAddress, web: &WebSettings) -> Result<MessagePipe, String> {
    let client = service_client(web, &address.url).await?;
    let mut request = client.get(address.url.clone()).header(ACCEPT, EVENTS);
    for (name, value) in &address.headers {
        request = request.header(name, value);
    }
    let response = request.send().await.map_err(|err| HttpFailure::from(err).to_string())?;
    let status = response.status();
    if !status.is_success() {
        return Err(refusal(status, &error_body(response).await));
    }
    let kind = media_type(&response);
    if kind != EVENTS {
        return Err(format!(
            "it answers with `{kind}` and not with a stream of events; check its `type`"
        ));
    }
    let mut stream = events(response);
    let endpoint = endpoint(&mut stream, &address.url).await?;
    let (mut pipe, PipeEnd { received, to_send }) = MessagePipe::new();
    let reader = tokio::spawn(read(stream, received.clone()));
    pipe.ends(&reader);
    let reader = reader.abort_handle();
    let writer = SseWriter { client, endpoint, address: address.clone(), received, reader };
    tokio::spawn(writer.write(to_send));
    Ok(pipe)
}

/// Where messages are posted to: on the same host, because they have its keys in their headers.
async fn endpoint(stream: &mut EventStream, url: &Url) -> Result<Url, String> {
    while let Some(event) = stream.next().await {
        let event = event.map_err(|err| err.to_string())?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let text = event.data.unwrap_or_default();
        let endpoint = url
            .join(text.trim())
            .map_err(|cause| format!("it names no place for messages that is a URL: {cause}"))?;
        if endpoint.origin() != url.origin() {
            return Err("it wants its messages at another host, which they are not for".to_owned());
        }
        return Ok(endpoint);
    }
    Err("its stream of events ended before it said where messages go".to_owned())
}

async fn read(mut stream: EventStream, received: IncomingMessages) {
    while let Some(Ok(event)) = stream.next().await {
        let is_message = event.event.as_deref().is_none_or(|it| it == "message");
        let Some(data) = event.data.filter(|_| is_message) else { continue };
        if received.text(data.as_bytes()).await == Err(NotPassedOn::Closed) {
            return;
        }
    }
}

struct SseWriter {
    client: Client,
    endpoint: Url,
    address: HttpAddress,
    received: IncomingMessages,
    reader: AbortHandle,
}

/// Why a message did not arrive.
enum NotPosted {
    /// The server refuses it.
    Refused(String),
    /// The server cannot be reached.
    Unreachable,
}

impl SseWriter {
    /// Posts messages until there are no more, or the connection has been closed for a while: a server may
    /// never answer.
    async fn write(self, to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
        let long_closed = async {
            self.received.closed().await;
            tokio::time::sleep(LAST_MESSAGES).await;
        };
        tokio::select! {
            () = self.post_all(to_send) => {}
            () = long_closed => {}
        }
    }

    async fn post_all(&self, mut to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
        while let Some(message) = to_send.recv().await {
            let id = match &message {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            let posted = tokio::select! {
                posted = self.post(&message) => posted,
                // A server that takes a message and never answers must not hold a closed connection.
                () = self.received.closed() => return,
            };
            match posted {
                Ok(()) => {}
                Err(NotPosted::Refused(cause)) => {
                    if let Some(id) = id {
                        self.received.failure(id, cause).await;
                    }
                }
                Err(NotPosted::Unreachable) => {
                    // The stream of a server that is gone may seem open for long.
                    self.reader.abort();
                    return;
                }
            }
        }
    }

    async fn post(&self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), NotPosted> {
        let refused = |err: serde_json::Error| NotPosted::Refused(err.to_string());
        let text = serde_json::to_string(message).map_err(refused)?;
        let mut request = self
            .client
            .post(self.endpoint.clone())
            .header(reqwest::header::CONTENT_TYPE, JSON)
            .body(text);
        for (name, value) in &self.address.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|_| NotPosted::Unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        Err(NotPosted::Refused(refusal(status, &error_body(response).await)))
    }
}
