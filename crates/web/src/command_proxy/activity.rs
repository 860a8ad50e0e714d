//! Detects idle connections.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, sleep_until},
};

/// When bytes were last transferred on a client's connection or on those made for it.
#[derive(Debug)]
pub(super) struct ProxyActivity {
    began: Instant,
    last_ms: AtomicU64,
    is_half_open: AtomicBool,
}

impl ProxyActivity {
    pub(super) fn begin() -> Arc<Self> {
        let (last_ms, is_half_open) = (AtomicU64::new(0), AtomicBool::new(false));
        Arc::new(Self { began: Instant::now(), last_ms, is_half_open })
    }

    fn touch(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    /// Waits until the connection was idle for `idle`, or for `half_open` after one side has stopped sending.
    pub(super) async fn ceased(&self, idle: Duration, half_open: Duration) {
        loop {
            let is_half_open = self.is_half_open.load(Ordering::Relaxed);
            let limit = if is_half_open { half_open.min(idle) } else { idle };
            let last = self.began + Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            let now = Instant::now();
            if last + limit <= now {
                return;
            }
            // Wakes early, because one side may stop sending meanwhile.
            sleep_until((last + limit).min(now + half_open)).await;
        }
    }
}

/// A connection whose bytes count as activity.
#[derive(Debug)]
pub(super) struct ProxyStream {
    stream: TcpStream,
    activity: Arc<ProxyActivity>,
}

impl ProxyStream {
    pub(super) fn new(stream: TcpStream, activity: &Arc<ProxyActivity>) -> Self {
        // Data is forwarded without delay.
        let _ = stream.set_nodelay(true);
        activity.touch();
        Self { stream, activity: Arc::clone(activity) }
    }

    /// The first byte from the other side, which is not consumed; `None` if it sends nothing.
    pub(super) async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        let count = self.stream.peek(&mut first).await?;
        Ok(first.into_iter().take(count).next())
    }
}

impl AsyncRead for ProxyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.activity.touch();
        if buffer.filled().len() == before && buffer.remaining() > 0 {
            self.activity.is_half_open.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ProxyStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        self.activity.touch();
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, parts));
        self.activity.touch();
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
