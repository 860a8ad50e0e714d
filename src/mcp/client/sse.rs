//! Servers over HTTP as it was before streamable HTTP: one stream of events from the server, whose first event
//! says where messages to it are posted.

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{Client, header::ACCEPT};
use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, RequestId},
    service::TxJsonRpcMessage,
    transport::streamable_http_client::SseError,
};
use sse_stream::Sse;
use tokio::sync::mpsc;
use url::Url;

use super::{
    config::HttpAddress,
    http_answer::{EVENTS, HttpFailure, JSON, error_body, events, media_type, refusal},
    message_pipe::{MessagePipe, NotPassedOn, PipeEnd, Received},
};
use crate::net::{WebSettings, service_client};

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
    pipe.ends(&tokio::spawn(read(stream, received.clone())));
    let writer = SseWriter { client, endpoint, address: address.clone(), received };
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

async fn read(mut stream: EventStream, received: Received) {
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
    received: Received,
}

impl SseWriter {
    async fn write(self, mut to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
        while let Some(message) = to_send.recv().await {
            let id = match &message {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            let posted = self.post(&message).await;
            if let (Err(cause), Some(id)) = (posted, id) {
                self.fail(id, cause).await;
            }
        }
    }

    async fn post(&self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), String> {
        let text = serde_json::to_string(message).map_err(|err| err.to_string())?;
        let mut request = self
            .client
            .post(self.endpoint.clone())
            .header(reqwest::header::CONTENT_TYPE, JSON)
            .body(text);
        for (name, value) in &self.address.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|err| HttpFailure::from(err).to_string())?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        Err(refusal(status, &error_body(response).await))
    }

    async fn fail(&self, id: RequestId, cause: String) {
        self.received.failure(id, cause).await;
    }
}
