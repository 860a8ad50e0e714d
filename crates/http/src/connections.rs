//! The open connections of a server. Their number is limited; at the limit, the connection that has been
//! idle for longest is closed to admit a new one.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The open connections.
pub(super) struct Connections {
    most: usize,
    open: Mutex<HashMap<u64, Arc<ClientState>>>,
    /// A logical clock, which orders events.
    clock: AtomicU64,
}

/// The state of one connection.
struct ClientState {
    /// The number of requests that are being answered.
    in_flight: AtomicUsize,
    /// When it became idle, by the logical clock.
    idle_since: AtomicU64,
    /// Cancelled when it has to make room for another connection.
    evicted: CancellationToken,
}

/// A connection that was admitted. Dropping it frees its slot.
#[derive(Clone)]
pub(super) struct AdmittedConnection(Arc<ConnectionSlot>);

struct ConnectionSlot {
    id: u64,
    state: Arc<ClientState>,
    all: Arc<Connections>,
}

impl Connections {
    /// Allows at most this many connections.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let (open, clock) = (Mutex::default(), AtomicU64::new(0));
        Arc::new(Self { most, open, clock })
    }

    /// Admits a connection. At the limit, the connection that has been idle for longest is closed. Returns
    /// `None` if all connections are being answered.
    pub(super) fn admit(self: &Arc<Self>) -> Option<AdmittedConnection> {
        let id = self.tick();
        let state = Arc::new(ClientState {
            in_flight: AtomicUsize::new(0),
            idle_since: AtomicU64::new(id),
            evicted: CancellationToken::new(),
        });
        let mut open = self.open.lock();
        if open.len() >= self.most {
            let idle = open.iter().filter(|(_, it)| it.in_flight.load(Ordering::Acquire) == 0);
            let longest = idle.min_by_key(|(_, it)| it.idle_since.load(Ordering::Acquire));
            let leaving = longest.map(|(id, _)| *id)?;
            if let Some(leaving) = open.remove(&leaving) {
                leaving.evicted.cancel();
            }
        }
        open.insert(id, Arc::clone(&state));
        Some(AdmittedConnection(Arc::new(ConnectionSlot { id, state, all: Arc::clone(self) })))
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::AcqRel)
    }
}

impl AdmittedConnection {
    /// Notes that a request arrived. It is being answered until the guard is dropped.
    pub(super) fn begin_answer(&self) -> AnswerUnderWay {
        self.0.state.in_flight.fetch_add(1, Ordering::AcqRel);
        AnswerUnderWay(self.clone())
    }

    /// True while a request is being answered.
    pub(super) fn is_answering(&self) -> bool {
        self.0.state.in_flight.load(Ordering::Acquire) > 0
    }

    /// Waits until the connection has to make room for another one.
    pub(super) async fn evicted(&self) {
        self.0.state.evicted.cancelled().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.all.open.lock().remove(&self.id);
    }
}

/// A request that is being answered.
pub(super) struct AnswerUnderWay(AdmittedConnection);

impl Drop for AnswerUnderWay {
    fn drop(&mut self) {
        let ConnectionSlot { state, all, .. } = &*self.0.0;
        state.idle_since.store(all.tick(), Ordering::Release);
        state.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The body of a response. The request counts as being answered until all of the body is sent.
pub(super) struct BodyUnderWay {
    pub(super) body: Body,
    pub(super) _answer: AnswerUnderWay,
}

impl HttpBody for BodyUnderWay {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn is_evicted(connection: &AdmittedConnection) -> bool {
        connection.evicted().now_or_never().is_some()
    }

    #[test]
    fn the_connection_that_was_idle_for_longest_is_closed_to_make_room() {
        let all = Connections::new(3);
        let [one, two, three] = [(); 3].map(|()| all.admit().unwrap());
        let answer = one.begin_answer();
        drop(two.begin_answer());
        let four = all.admit().unwrap();
        assert_eq!([&one, &two, &three, &four].map(is_evicted), [false, false, true, false]);
        drop(answer);
        let five = all.admit().unwrap();
        assert_eq!([&one, &two, &four, &five].map(is_evicted), [false, true, false, false]);
    }

    #[test]
    fn no_connection_is_admitted_at_the_limit_while_all_are_being_answered() {
        let all = Connections::new(1);
        let one = all.admit().unwrap();
        let answer = one.begin_answer();
        assert!(all.admit().is_none());
        drop((answer, one));
        assert!(all.admit().is_some());
    }
}
