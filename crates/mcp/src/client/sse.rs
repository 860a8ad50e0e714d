//! Servers over HTTP with server-sent events, the predecessor of streamable HTTP. The server sends one stream of
//! events; its first event contains the URL to which messages are posted.

use std::time::Duration;

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{Client, header::ACCEPT};
use rmcp::{
    RoleClient, model::JsonRpcMessage, service::TxJsonRpcMessage,
    transport::streamable_http_client::SseError,
};
use sse_stream::Sse;
use tokio::{sync::mpsc, task::AbortHandle};
use tokio_util::sync::CancellationToken;
use toolwright_web::{WebSettings, service_client};
use url::Url;

use super::{
    config::HttpAddress,
    http_answer::{EVENTS, HttpFailure, JSON, error_body, events, media_type, refusal},
    message_pipe::{IncomingMessages, MessagePipe, NotPassedOn, PipeEnd},
};

/// How long sending the last messages of a closed connection may take.
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
    let no_more = CancellationToken::new();
    let reading = (read(stream, received.clone()), no_more.clone().drop_guard());
    let reader = tokio::spawn(async move {
        let (reading, _end) = reading;
        reading.await;
    });
    pipe.ends(&reader);
    let reader = reader.abort_handle();
    let writer =
        SseWriter { client, endpoint, address: address.clone(), received, reader, no_more };
    tokio::spawn(writer.write(to_send));
    Ok(pipe)
}

/// The URL to which messages are posted. It must have the same origin, because the headers contain secrets.
async fn endpoint(stream: &mut EventStream, url: &Url) -> Result<Url, String> {
    while let Some(event) = stream.next().await {
        let event = event.map_err(|err| err.to_string())?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let text = event.data.unwrap_or_default();
        let endpoint = url
            .join(text.trim())
            .map_err(|cause| format!("its address for messages is not a URL: {cause}"))?;
        if endpoint.origin() != url.origin() {
            return Err(
                "its address for messages is on another host, which is not allowed".to_owned()
            );
        }
        return Ok(endpoint);
    }
    Err("its stream of events ended before it sent its address for messages".to_owned())
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
    /// Cancelled when the stream has ended, or is no longer read.
    no_more: CancellationToken,
}

/// Why a message was not delivered.
enum NotPosted {
    /// The server refuses it.
    Refused(String),
    /// The server cannot be reached.
    Unreachable,
}

impl SseWriter {
    /// Posts messages until there are no more, or until the stream has ended and answers can no longer arrive. If
    /// the connection was closed on this side, the last messages have a time limit, because a server may never
    /// accept them.
    async fn write(self, to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
        let over = async {
            self.no_more.cancelled().await;
            if self.received.is_closed() {
                tokio::time::sleep(LAST_MESSAGES).await;
            }
        };
        tokio::select! {
            () = self.post_all(to_send) => {}
            () = over => {}
        }
    }

    async fn post_all(&self, mut to_send: mpsc::Receiver<TxJsonRpcMessage<RoleClient>>) {
        while let Some(message) = to_send.recv().await {
            let id = match &message {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            match self.post(&message).await {
                Ok(()) => {}
                Err(NotPosted::Refused(cause)) => {
                    if let Some(id) = id {
                        self.received.failure(id, cause).await;
                    }
                }
                Err(NotPosted::Unreachable) => {
                    // The stream of a server that is gone can appear open for a long time.
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::HashMap;

    use rmcp::transport::Transport as _;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    #[tokio::test]
    async fn the_end_of_the_stream_ends_the_connection_though_the_server_still_accepts_messages() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/sse", listener.local_addr().unwrap());
        let address = HttpAddress { url: url.parse().unwrap(), headers: HashMap::new() };
        let serving = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let text = format!("{head}event: endpoint\ndata: /messages\n\n");
            stream.write_all(text.as_bytes()).await.unwrap();
            stream
        };
        let web = WebSettings::default();
        let (mut stream, pipe) = tokio::join!(serving, open(&address, &web));
        let mut pipe = pipe.unwrap();
        stream.shutdown().await.unwrap();
        assert!(pipe.receive().await.is_none());
    }
}
