//! Starts calls that change files in the order in which they were made.
//!
//! A runtime with several threads starts tasks in any order. The order of changes to a file is decided
//! when calls queue for the file's lock, which they do in their first poll. So each of these calls
//! delays its first poll until the previous call has had its own.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The calls that change files, in the order they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct StartOrder(Arc<Mutex<StartQueue>>);

#[derive(Debug, Default)]
struct StartQueue {
    next: u64,
    /// The calls that have not started, each with its wake-up signal.
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// A call that has been received. Code that hands calls to other threads creates one for each call
/// before that, on the thread that receives the calls, and passes it to the pipeline.
#[derive(Debug)]
#[must_use = "dropping it gives up the call's position in the order"]
pub struct Arrival(Option<StartTurn>);

impl Arrival {
    /// For a call that waits for no other.
    pub(super) fn of_any_order() -> Self {
        Self(None)
    }

    /// Runs the call. A call with a position is first polled in its turn.
    pub(super) async fn run<T>(self, call: impl Future<Output = T>) -> T {
        match self.0 {
            // Boxed, because a future is copied when it is moved.
            Some(place) => place.run(Box::pin(call)).await,
            None => call.await,
        }
    }
}

/// A position in the order. A dropped call gives up its position, and the others keep theirs.
#[derive(Debug)]
struct StartTurn {
    order: StartOrder,
    number: u64,
    turn: Arc<Notify>,
}

impl StartOrder {
    /// Registers a call that changes files.
    pub(super) fn arrival(&self) -> Arrival {
        Arrival(Some(self.take()))
    }

    /// Takes the next position.
    fn take(&self) -> StartTurn {
        let turn = Arc::new(Notify::new());
        let mut line = self.0.lock();
        let number = line.next;
        line.next += 1;
        line.waiting.insert(number, Arc::clone(&turn));
        StartTurn { order: self.clone(), number, turn }
    }
}

impl StartTurn {
    /// Runs a call: the first poll in its turn, the rest without waiting for other calls.
    async fn run<T>(self, call: impl Future<Output = T>) -> T {
        while !self.is_first() {
            self.turn.notified().await;
        }
        let mut call = pin!(call);
        let first = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
        drop(self);
        match first {
            Poll::Ready(ended) => ended,
            Poll::Pending => call.await,
        }
    }

    fn is_first(&self) -> bool {
        self.order
            .0
            .lock()
            .waiting
            .first_key_value()
            .is_some_and(|(first, _)| *first == self.number)
    }
}

impl Drop for StartTurn {
    fn drop(&mut self) {
        let mut line = self.order.0.lock();
        line.waiting.remove(&self.number);
        if let Some((_, next)) = line.waiting.first_key_value() {
            next.notify_one();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn first_polls_follow_the_order_and_a_dropped_position_does_not_block() {
        let order = StartOrder::default();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let places: Vec<StartTurn> = (0..500).map(|_| order.take()).collect();
        let calls: Vec<_> = places
            .into_iter()
            .enumerate()
            .filter(|(number, _)| number % 50 != 7)
            .map(|(number, place)| {
                let steps = Arc::clone(&steps);
                tokio::spawn(place.run(async move {
                    steps.lock().push(number);
                    tokio::task::yield_now().await;
                }))
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
        assert!(steps.lock().is_sorted());
        assert_eq!(steps.lock().len(), 490);
    }
}
