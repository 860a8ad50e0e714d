//! Takes requests from a socket.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use super::{HttpService, access::ReachedAt};

/// Where a server listens.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// An address of this machine, such as `127.0.0.1`.
    pub host: String,
    /// The port; 0 for any that is free.
    pub port: u16,
}

/// A server that is open until it is closed or dropped.
pub struct HttpServer {
    address: SocketAddr,
    closing: CancellationToken,
}

impl HttpServer {
    /// Opens the socket and answers requests from then on.
    pub async fn open(service: HttpService, at: &ServerAddress) -> io::Result<Self> {
        let listener = TcpListener::bind((at.host.as_str(), at.port)).await?;
        let address = listener.local_addr()?;
        let closing = CancellationToken::new();
        let until_closed = closing.clone();
        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = until_closed.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                let Ok((stream, _)) = accepted else { continue };
                let service = service.clone();
                let reached_at = stream.local_addr().map(|it| ReachedAt(it.ip())).ok();
                tokio::spawn(async move {
                    let answer =
                        service_fn(move |request: http::Request<hyper::body::Incoming>| {
                            let service = service.clone();
                            async move {
                                let mut request = request.map(axum::body::Body::new);
                                if let Some(reached_at) = reached_at {
                                    request.extensions_mut().insert(reached_at);
                                }
                                Ok::<_, std::convert::Infallible>(service.answer(request).await)
                            }
                        });
                    let connection = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(answer));
                    // The client is gone, or said nothing that could be answered.
                    drop(connection.await);
                });
            }
        });
        Ok(Self { address, closing })
    }

    /// The address to open it by.
    pub fn url(&self) -> String {
        let Self { address, .. } = self;
        let port = address.port();
        match address.ip() {
            // Every address of the machine leads to it; this one is always there, and a name of the server.
            IpAddr::V4(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{port}"),
            IpAddr::V6(ip) if ip.is_unspecified() => format!("http://[::1]:{port}"),
            _ => format!("http://{address}"),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
