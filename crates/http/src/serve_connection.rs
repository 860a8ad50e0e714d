//! Serves one connection, from its first request to its end.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::{Pin, pin},
    time::Duration,
};

use axum::body::Body;
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::AsyncWrite as _,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    HttpService, ServerBounds,
    access::ReachedAt,
    connections::{AdmittedConnection, BodyUnderWay},
    write_timeout::{ClientSocket, WriteTimeoutStream},
};

/// The maximum size of a request's first line and headers.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// How long, and for how many bytes, a client may continue to send after the last answer.
const LINGERING_TIME: Duration = Duration::from_secs(1);
const LINGERING_BYTES: usize = 64 * 1024 * 1024;

/// How often to check whether the client still waits for its answer.
const CLIENT_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// An accepted connection, with everything that serving it needs.
pub(super) struct Served {
    pub(super) stream: TcpStream,
    pub(super) connection: AdmittedConnection,
    pub(super) service: HttpService,
    pub(super) closing: CancellationToken,
    pub(super) bounds: ServerBounds,
}

/// Answers the requests of a connection until its client disconnects, the server is closed, or the connection
/// has to make room for another one.
pub(super) async fn serve(served: Served) {
    let Served { stream, connection, service, closing, bounds } = served;
    // Answers are written in one piece, so Nagle's algorithm would only add delay.
    let _ = stream.set_nodelay(true);
    // A dual-stack socket reports IPv4 addresses in their IPv6-mapped form.
    let reached_at = stream.local_addr().map(|it| ReachedAt(it.ip().to_canonical())).ok();
    let answer = |request: Request<Incoming>| {
        let under_way = connection.begin_answer();
        let service = &service;
        Box::pin(async move {
            let mut request = request.map(Body::new);
            if let Some(reached_at) = reached_at {
                request.extensions_mut().insert(reached_at);
            }
            let response: Response<Body> = service.answer(request).await;
            let in_body = |body| BodyUnderWay { body, _answer: under_way };
            Ok::<_, Infallible>(response.map(in_body))
        })
    };
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.header_time);
    http.max_header_size(MAX_HEADER_BYTES).max_buf_size(2 * MAX_HEADER_BYTES);
    let socket = ClientSocket::new(stream);
    let stream = TokioIo::new(WriteTimeoutStream::new(socket.clone(), bounds.unread_time));
    let mut evicted = pin!(connection.evicted());
    {
        let mut answering = http.serve_connection(stream, service_fn(answer));
        let mut client_gone = pin!(client_gone(&socket, &connection));
        let mut is_closing = false;
        loop {
            tokio::select! {
                biased;
                () = &mut evicted => return,
                () = &mut client_gone => return,
                () = closing.cancelled(), if !is_closing => {
                    is_closing = true;
                    Pin::new(&mut answering).graceful_shutdown();
                }
                // The error is ignored: hyper has already answered a request that it could not parse.
                _ = poll_fn(|cx| answering.poll_without_shutdown(cx)) => break,
            }
        }
    }
    let Some(stream) = socket.into_stream() else { return };
    tokio::select! {
        biased;
        () = &mut evicted => {}
        () = closing.cancelled() => {}
        _ = timeout(LINGERING_TIME, linger(stream)) => {}
    }
}

/// Waits until the client disconnects while its request is being answered. hyper notices that only if the
/// client sent nothing after its request, such as the next request or an empty line.
async fn client_gone(socket: &ClientSocket, connection: &AdmittedConnection) {
    loop {
        sleep(CLIENT_CHECK_INTERVAL).await;
        if connection.is_answering() && socket.is_closed_by_client() {
            return;
        }
    }
}

/// Shuts down writing, then reads what the client still sends. If the connection were closed with something
/// unread, the client could lose the answer that tells it to stop.
async fn linger(mut stream: TcpStream) {
    if poll_fn(|cx| Pin::new(&mut stream).poll_shutdown(cx)).await.is_err() {
        return;
    }
    let mut unread = vec![0; 64 * 1024];
    let mut left = LINGERING_BYTES;
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut unread) {
            Ok(0) => return,
            Ok(count) => match left.checked_sub(count) {
                Some(rest) => left = rest,
                None => return,
            },
            Err(err) if err.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
