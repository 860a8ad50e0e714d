//! Takes requests from a socket, within bounds.

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

use super::{
    HttpService,
    connections::Connections,
    serve_connection::{Served, serve},
    service::MAX_CALLS,
};
use crate::confirm::Attendance;

/// How long the server waits after a connection could not be accepted, such as when there are no descriptors
/// left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What a client is told for which there is no room.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Where a server listens.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// An address of this machine, such as `127.0.0.1`.
    pub host: String,
    /// The port; 0 for any that is free.
    pub port: u16,
}

/// The bounds of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerBounds {
    /// How many connections are open at a time.
    pub connections: usize,
    /// How long a connection may take until it has sent the headers of its next request.
    pub header_time: Duration,
    /// How long a client may read nothing of its answer.
    pub unread_time: Duration,
    /// How long answers may take to end when the server is closed.
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
    /// Opens the socket and answers requests from then on.
    pub async fn open(service: HttpService, at: &ServerAddress) -> io::Result<Self> {
        Self::open_within(service, at, ServerBounds::default()).await
    }

    /// As [`Self::open`], with other bounds than usual.
    pub async fn open_within(
        service: HttpService,
        at: &ServerAddress,
        bounds: ServerBounds,
    ) -> io::Result<Self> {
        // IPv6 addresses stand in brackets in a URL.
        let host = at.host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let listener = TcpListener::bind((host.unwrap_or(&at.host), at.port)).await?;
        let address = listener.local_addr()?;
        let (closing, ended) = (CancellationToken::new(), CancellationToken::new());
        let (attendance, until_closed) = (service.attend(), closing.clone());
        let accepting = Accepting { listener, service, bounds, closing: until_closed, attendance };
        let ends = ended.clone().drop_guard();
        tokio::spawn(async move {
            accepting.run().await;
            drop(ends);
        });
        Ok(Self { address, closing, ended })
    }

    /// The address to open it by.
    pub fn url(&self) -> String {
        let Self { address, .. } = self;
        let port = address.port();
        // An address of version 4 is a name of the server in its own form alone.
        match address.ip().to_canonical() {
            // Every address of the machine leads to it; this one is always there, and a name of the server.
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

    /// Closes the server: no request is taken any more, answers may end within a short time, and what runs
    /// longer is cancelled. Nothing of it is left when this returns.
    pub async fn close(&self) {
        self.closing.cancel();
        self.ended().await;
    }

    /// Waits until the server has ended, because it was closed or its registry was.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// A socket that is open.
struct Accepting {
    listener: TcpListener,
    service: HttpService,
    bounds: ServerBounds,
    closing: CancellationToken,
    /// While it is open, somebody may answer requests for confirmation.
    attendance: Attendance,
}

impl Accepting {
    async fn run(self) {
        let Self { listener, service, bounds, closing, attendance } = self;
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
        drop((listener, attendance));
        // The connections hear of it as well.
        closing.cancel();
        service.state.ending.cancel();
        let all_ended = async { while serving.join_next().await.is_some() {} };
        let _ = timeout(bounds.closing_time, all_ended).await;
        serving.shutdown().await;
        // Calls whose clients are gone now are cancelled, which takes a moment.
        let no_call_runs = service.state.calls.acquire_many(MAX_CALLS);
        let _ = timeout(bounds.closing_time, no_call_runs).await;
    }
}

/// Tells a client that there is no room, if that can be told at once.
fn refuse(stream: &TcpStream) {
    let _ = stream.try_write(NO_ROOM);
}
