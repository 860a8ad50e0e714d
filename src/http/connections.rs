//! The open connections of a server. There is a bound on them, and who wants nothing makes room for who does.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// The open connections.
pub(super) struct Connections {
    most: usize,
    open: Mutex<HashMap<u64, Arc<ClientState>>>,
    /// Counts what happens, so that it is known what happened earlier.
    moment: AtomicU64,
}

/// What is known of one connection.
struct ClientState {
    /// How many requests of it are being answered.
    in_flight: AtomicUsize,
    /// The moment since which it wants nothing.
    idle_since: AtomicU64,
    /// Cancelled when it has to make room.
    dismissed: CancellationToken,
}

/// A connection that was let in. It leaves when this is dropped.
#[derive(Clone)]
pub(super) struct AdmittedConnection(Arc<ClientPlace>);

struct ClientPlace {
    id: u64,
    state: Arc<ClientState>,
    all: Arc<Connections>,
}

impl Connections {
    /// Room for this many.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let (open, moment) = (Mutex::default(), AtomicU64::new(0));
        Arc::new(Self { most, open, moment })
    }

    /// Lets a connection in. If there is no room, the one that has wanted nothing for longest is closed;
    /// nothing if all of them are being answered.
    pub(super) fn admit(self: &Arc<Self>) -> Option<AdmittedConnection> {
        let id = self.next_moment();
        let state = Arc::new(ClientState {
            in_flight: AtomicUsize::new(0),
            idle_since: AtomicU64::new(id),
            dismissed: CancellationToken::new(),
        });
        let mut open = self.open();
        if open.len() >= self.most {
            let idle = open.iter().filter(|(_, it)| it.in_flight.load(Ordering::Acquire) == 0);
            let longest = idle.min_by_key(|(_, it)| it.idle_since.load(Ordering::Acquire));
            let leaving = longest.map(|(id, _)| *id)?;
            if let Some(leaving) = open.remove(&leaving) {
                leaving.dismissed.cancel();
            }
        }
        open.insert(id, Arc::clone(&state));
        Some(AdmittedConnection(Arc::new(ClientPlace { id, state, all: Arc::clone(self) })))
    }

    fn next_moment(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::AcqRel)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<ClientState>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdmittedConnection {
    /// A request came in. It is being answered until the guard is dropped.
    pub(super) fn begin_answer(&self) -> AnswerUnderWay {
        self.0.state.in_flight.fetch_add(1, Ordering::AcqRel);
        AnswerUnderWay(self.clone())
    }

    /// True while a request is being answered.
    pub(super) fn is_answering(&self) -> bool {
        self.0.state.in_flight.load(Ordering::Acquire) > 0
    }

    /// Waits until the connection has to make room.
    pub(super) async fn dismissed(&self) {
        self.0.state.dismissed.cancelled().await;
    }
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        self.all.open().remove(&self.id);
    }
}

/// A request that is being answered.
pub(super) struct AnswerUnderWay(AdmittedConnection);

impl Drop for AnswerUnderWay {
    fn drop(&mut self) {
        let ClientPlace { state, all, .. } = &*self.0.0;
        state.idle_since.store(all.next_moment(), Ordering::Release);
        state.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The body of an answer, which is under way until all of it is sent.
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

    fn is_dismissed(connection: &AdmittedConnection) -> bool {
        connection.dismissed().now_or_never().is_some()
    }

    #[test]
    fn who_has_wanted_nothing_for_longest_makes_room() {
        let all = Connections::new(3);
        let [one, two, three] = [(); 3].map(|()| all.admit().unwrap());
        let answer = one.begin_answer();
        drop(two.begin_answer());
        let four = all.admit().unwrap();
        assert_eq!([&one, &two, &three, &four].map(is_dismissed), [false, false, true, false]);
        drop(answer);
        let five = all.admit().unwrap();
        assert_eq!([&one, &two, &four, &five].map(is_dismissed), [false, true, false, false]);
    }

    #[test]
    fn nobody_is_let_in_while_all_are_being_answered_and_there_is_no_room() {
        let all = Connections::new(1);
        let one = all.admit().unwrap();
        let answer = one.begin_answer();
        assert!(all.admit().is_none());
        drop((answer, one));
        assert!(all.admit().is_some());
    }
}
