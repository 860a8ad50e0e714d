//! Starts calls that change files in the order in which they were made.
//!
//! A runtime with several threads starts tasks in any order. The order of changes to a file is decided when
//! calls queue for the file's lock, which they do in their first step. So each of these calls waits with its
//! first step until the call before it has done its own.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use tokio::sync::Notify;

/// The calls that change files, in the order they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct StartOrder(Arc<Mutex<StartQueue>>);

#[derive(Debug, Default)]
struct StartQueue {
    next: u64,
    /// The calls that have not started, each with what wakes it.
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// A call that has come in. Whoever hands calls over to other threads takes note of each before that, on
/// the thread they come from, and lets the pipeline run it by this.
#[derive(Debug)]
#[must_use = "dropped, it gives up the call's place in the order"]
pub struct Arrival(Option<StartPlace>);

impl Arrival {
    /// Of a call that has to wait for no other.
    pub(super) fn of_any_order() -> Self {
        Self(None)
    }

    /// Runs the call: one that has a place takes its first step in its turn.
    pub(super) async fn run<T>(self, call: impl Future<Output = T>) -> T {
        match self.0 {
            // A pointer, because a future is copied when it is handed on.
            Some(place) => place.run(Box::pin(call)).await,
            None => call.await,
        }
    }
}

/// A place in the order. A call that is dropped gives its place up, and the others keep theirs.
#[derive(Debug)]
struct StartPlace {
    order: StartOrder,
    number: u64,
    turn: Arc<Notify>,
}

impl StartOrder {
    /// Takes note of a call that changes files.
    pub(super) fn arrival(&self) -> Arrival {
        Arrival(Some(self.take()))
    }

    /// Takes the next place.
    fn take(&self) -> StartPlace {
        let turn = Arc::new(Notify::new());
        let mut line = self.lock();
        let number = line.next;
        line.next += 1;
        line.waiting.insert(number, Arc::clone(&turn));
        StartPlace { order: self.clone(), number, turn }
    }

    fn lock(&self) -> MutexGuard<'_, StartQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StartPlace {
    /// Runs a call: its first step in turn, the rest without waiting for others.
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
        self.order.lock().waiting.first_key_value().is_some_and(|(first, _)| *first == self.number)
    }
}

impl Drop for StartPlace {
    fn drop(&mut self) {
        let mut line = self.order.lock();
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
    async fn first_steps_are_taken_in_the_order_of_places_and_a_dropped_place_holds_nobody() {
        let order = StartOrder::default();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let places: Vec<StartPlace> = (0..500).map(|_| order.take()).collect();
        let calls: Vec<_> = places
            .into_iter()
            .enumerate()
            .filter(|(number, _)| number % 50 != 7)
            .map(|(number, place)| {
                let steps = Arc::clone(&steps);
                tokio::spawn(place.run(async move {
                    steps.lock().unwrap().push(number);
                    tokio::task::yield_now().await;
                }))
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
        assert!(steps.lock().unwrap().is_sorted());
        assert_eq!(steps.lock().unwrap().len(), 490);
    }
}
