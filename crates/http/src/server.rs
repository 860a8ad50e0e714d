//! Serves requests from a socket, within limits.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use toolwright_pipeline::Responder;

use super::{
    HttpService,
    connections::Connections,
    serve_connection::{Served, serve},
    service::MAX_CALLS,
};

/// How long to wait after `accept` failed, for example because there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The answer to a client when there are too many connections.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Where a server listens.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// An address of this machine, such as `127.0.0.1`.
    pub host: String,
    /// The port. 0 chooses a free one.
    pub port: u16,
}

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerBounds {
    /// The maximum number of open connections.
    pub connections: usize,
    /// How long a connection may take until it has sent the headers of its next request.
    pub header_time: Duration,
    /// How long a client may stop reading its answer.
    pub unread_time: Duration,
    /// How long answers may still take after the server is closed.
    pub closing_time: Duration,
}

impl Default for ServerBounds {
    fn default() -> Self {
        Self {
            connections: 512,
            header_time: Duration::from_secs(10),
            unread_time: Duration::from_mins(1),
            closing_time: Duration::from_secs(2),
        }
    }
}

/// A server that is open until it is closed or dropped, or until its registry is closed.
pub struct HttpServer {
    address: SocketAddr,
    closing: CancellationToken,
    ended: CancellationToken,
}

impl HttpServer {
    /// Opens the socket and starts to answer requests.
    pub async fn open(service: HttpService, at: &ServerAddress) -> io::Result<Self> {
        Self::open_within(service, at, ServerBounds::default()).await
    }

    /// Like [`Self::open`], with other limits than the default.
    pub async fn open_within(
        service: HttpService,
        at: &ServerAddress,
        bounds: ServerBounds,
    ) -> io::Result<Self> {
        // IPv6 addresses may be in brackets, as in a URL.
        let host = at.host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let listener = TcpListener::bind((host.unwrap_or(&at.host), at.port)).await?;
        let address = listener.local_addr()?;
        let (closing, ended) = (CancellationToken::new(), CancellationToken::new());
        let (responder, until_closed) = (service.add_responder(), closing.clone());
        let accepting = Accepting { listener, service, bounds, closing: until_closed, responder };
        let ends = ended.clone().drop_guard();
        tokio::spawn(async move {
            accepting.run().await;
            drop(ends);
        });
        Ok(Self { address, closing, ended })
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        let Self { address, .. } = self;
        let port = address.port();
        // An IPv4-mapped IPv6 address would be refused as the host of a request.
        match address.ip().to_canonical() {
            // The socket is bound to every address. The loopback address always exists and is allowed.
            IpAddr::V4(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{port}"),
            IpAddr::V6(ip) if ip.is_unspecified() => format!("http://[::1]:{port}"),
            IpAddr::V4(ip) => format!("http://{ip}:{port}"),
            IpAddr::V6(_) => format!("http://{address}"),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the server: accepts no more requests, waits a short time for the running answers, and then
    /// cancels them. When this returns, nothing of the server is left.
    pub async fn close(&self) {
        self.closing.cancel();
        self.ended().await;
    }

    /// Waits until the server has ended, because it or its registry was closed.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// The accept loop of an open socket.
struct Accepting {
    listener: TcpListener,
    service: HttpService,
    bounds: ServerBounds,
    closing: CancellationToken,
    /// While the server is open, confirmation requests can be answered through it.
    responder: Responder,
}

impl Accepting {
    async fn run(self) {
        let Self { listener, service, bounds, closing, responder } = self;
        let connections = Connections::new(bounds.connections);
        let mut serving = JoinSet::new();
        let pipeline = Arc::clone(&service.state.registry.pipeline);
        loop {
            let accepted = tokio::select! {
                biased;
                () = closing.cancelled() => break,
                () = pipeline.until_closed() => break,
                _ = serving.join_next(), if !serving.is_empty() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Some(connection) = connections.admit() else {
                refuse(&stream);
                continue;
            };
            let (service, closing) = (service.clone(), closing.clone());
            serving.spawn(serve(Served { stream, connection, service, closing, bounds }));
        }
        drop((listener, responder));
        // Also ends the connections.
        closing.cancel();
        service.state.ending.cancel();
        let all_ended = async { while serving.join_next().await.is_some() {} };
        let _ = timeout(bounds.closing_time, all_ended).await;
        serving.shutdown().await;
        // The calls of these connections are being cancelled, which takes a moment.
        let no_call_runs = service.state.calls.acquire_many(MAX_CALLS);
        let _ = timeout(bounds.closing_time, no_call_runs).await;
    }
}

/// Sends the refusal to a client if the socket takes it at once.
fn refuse(stream: &TcpStream) {
    let _ = stream.try_write(NO_ROOM);
}
