//! A connection that waits for its client only so long: one that does not read for a while is given up.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// A socket that whoever answers on it uses, and that can be looked at meanwhile. One task does both, so that
/// nobody waits for the lock.
#[derive(Clone)]
pub(super) struct ClientSocket(Arc<Mutex<TcpStream>>);

impl ClientSocket {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// True when the client has closed its side, also where something that it sent before is still unread.
    pub(super) fn is_left(&self) -> bool {
        let ready = self.stream().ready(Interest::READABLE).now_or_never();
        ready.is_some_and(|it| it.map_or(true, Ready::is_read_closed))
    }

    /// The socket itself, once nobody else uses it.
    pub(super) fn into_stream(self) -> Option<TcpStream> {
        let stream = Arc::into_inner(self.0)?;
        Some(stream.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn stream(&self) -> MutexGuard<'_, TcpStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection, and how long it waits.
pub(super) struct PatientStream {
    socket: ClientSocket,
    patience: Duration,
    /// Runs while nothing can be sent.
    given_up: Option<Pin<Box<Sleep>>>,
}

impl PatientStream {
    pub(super) const fn new(socket: ClientSocket, patience: Duration) -> Self {
        Self { socket, patience, given_up: None }
    }

    fn within_patience(
        &mut self,
        sent: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if sent.is_ready() {
            self.given_up = None;
            return sent;
        }
        let patience = self.patience;
        let given_up = self.given_up.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(given_up.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.stream()).poll_read(cx, buf)
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut *self.socket.stream()).poll_write(cx, buf);
        self.within_patience(sent, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut *self.socket.stream()).poll_write_vectored(cx, bufs);
        self.within_patience(sent, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.stream().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.stream()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.stream()).poll_shutdown(cx)
    }
}
