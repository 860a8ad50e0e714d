//! A stream that fails when its client does not read for too long.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// A socket that hyper uses and that can be inspected meanwhile. One task does both, so the lock is never
/// contended.
#[derive(Clone)]
pub(super) struct ClientSocket(Arc<Mutex<TcpStream>>);

impl ClientSocket {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// True when the client has closed its side, even if something it sent before is still unread.
    pub(super) fn is_closed_by_client(&self) -> bool {
        let ready = self.0.lock().ready(Interest::READABLE).now_or_never();
        ready.is_some_and(|it| it.map_or(true, Ready::is_read_closed))
    }

    /// The socket itself, if this is its last user.
    pub(super) fn into_stream(self) -> Option<TcpStream> {
        let stream = Arc::into_inner(self.0)?;
        Some(stream.into_inner())
    }
}

/// A socket whose writes fail with `TimedOut` after a time without progress.
pub(super) struct WriteTimeoutStream {
    socket: ClientSocket,
    timeout: Duration,
    /// Runs while nothing can be sent.
    timer: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeoutStream {
    pub(super) const fn new(socket: ClientSocket, timeout: Duration) -> Self {
        Self { socket, timeout, timer: None }
    }

    fn or_timed_out(
        &mut self,
        sent: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if sent.is_ready() {
            self.timer = None;
            return sent;
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeoutStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.0.lock()).poll_read(cx, buf)
    }
}

impl AsyncWrite for WriteTimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut *self.socket.0.lock()).poll_write(cx, buf);
        self.or_timed_out(sent, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut *self.socket.0.lock()).poll_write_vectored(cx, bufs);
        self.or_timed_out(sent, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.0.lock().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.0.lock()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.socket.0.lock()).poll_shutdown(cx)
    }
}
