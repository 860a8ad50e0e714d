//! Carries confirmation requests to listeners and their answers back. Each request has an id, and an
//! answer names that id.
//!
//! The bus does not know about tools. A request that is lost, times out or is cancelled counts as
//! refused.
//!
//! There are two kinds of listeners. The `notify` function that the bus is made with calls the host's
//! listeners, and returns whether there are any. Watchers can be added and removed, and receive the
//! same events. A watcher alone does not make a request wait: a [`Responder`] says that somewhere an
//! answer can be given.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::bus_messages::{
    BusEvent, ConfirmationAnswer, RequestOutcome, RequestSpan, Unanswered, WaitingRequest,
};

type Notify = Box<dyn Fn(&BusEvent) -> bool + Send + Sync>;
type BusWatcher = Arc<dyn Fn(&BusEvent, RequestSpan) + Send + Sync>;

/// The requests that wait for an answer.
pub struct MessageBus {
    /// Calls the host's listeners. Returns false when there are none.
    notify: Notify,
    /// The watchers, which receive every event too, with the numbers of their watches.
    watchers: RwLock<Vec<(u64, BusWatcher)>>,
    watches: AtomicU64,
    /// How many [`Responder`]s there are.
    responders: AtomicUsize,
    pending: Mutex<HashMap<String, PendingAnswer>>,
    seed: RandomState,
    asked: AtomicU64,
}

/// A request in the table of pending requests.
struct PendingAnswer {
    number: u64,
    details: Arc<Value>,
    span: RequestSpan,
    sender: oneshot::Sender<Result<ConfirmationAnswer, Unanswered>>,
}

impl MessageBus {
    /// A bus that calls a function with every event. The function must not block.
    pub fn new(notify: impl Fn(&BusEvent) -> bool + Send + Sync + 'static) -> Self {
        Self {
            notify: Box::new(notify),
            watchers: RwLock::default(),
            watches: AtomicU64::new(0),
            responders: AtomicUsize::new(0),
            pending: Mutex::default(),
            seed: RandomState::new(),
            asked: AtomicU64::new(0),
        }
    }

    /// A bus without listeners. It refuses every request, unless there is a [`Responder`].
    pub fn without_listeners() -> Self {
        Self::new(|_| false)
    }

    /// Calls a function with every event until the watch is dropped. The function must not block. A
    /// watch alone does not make requests wait: see [`Self::add_responder`].
    pub fn watch(
        self: &Arc<Self>,
        watcher: impl Fn(&BusEvent, RequestSpan) + Send + Sync + 'static,
    ) -> BusWatch {
        let number = self.watches.fetch_add(1, Ordering::Relaxed);
        let mut watchers = self.watchers.write();
        watchers.push((number, Arc::new(watcher)));
        drop(watchers);
        BusWatch { bus: Arc::clone(self), number }
    }

    /// Registers a responder, which sees requests and may answer them, until the value is dropped. A
    /// request that is waiting when the last responder is dropped still waits until its timeout.
    pub fn add_responder(self: &Arc<Self>) -> Responder {
        self.responders.fetch_add(1, Ordering::AcqRel);
        Responder(Arc::clone(self))
    }

    /// The requests that wait for an answer, oldest first, at most `most`.
    pub fn waiting(&self, most: usize) -> Vec<WaitingRequest> {
        let pending = self.pending.lock();
        let mut all: Vec<_> = pending.iter().collect();
        all.sort_unstable_by_key(|(_, it)| it.number);
        all.truncate(most);
        all.into_iter()
            .map(|(id, it)| WaitingRequest {
                id: id.clone(),
                details: Arc::clone(&it.details),
                span: it.span,
            })
            .collect()
    }

    /// Sends a request and waits for its answer.
    pub async fn request(
        &self,
        details: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<ConfirmationAnswer, Unanswered> {
        if cancel.is_cancelled() {
            return Err(Unanswered::Cancelled);
        }
        let (number, id) = self.next_id();
        let details = Arc::new(details);
        let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let asked_at = now();
        let span = RequestSpan { asked_at, expires_at: asked_at.saturating_add(milliseconds) };
        let (sender, answered) = oneshot::channel();
        let waiting = PendingAnswer { number, details: Arc::clone(&details), span, sender };
        self.pending.lock().insert(id.clone(), waiting);
        let mut pending = PendingRequest { bus: self, id: &id, span, outcome: None };
        let request = BusEvent::Request { id: id.clone(), details, timeout: milliseconds };
        if !((self.notify)(&request) || self.has_responder()) {
            return Err(Unanswered::NoListener(NO_LISTENER.to_owned()));
        }
        self.notify_watchers(&request, span);
        pending.outcome = Some(RequestOutcome::Cancelled);
        let (answer, outcome) = tokio::select! {
            biased;
            () = cancel.cancelled() => (Err(Unanswered::Cancelled), RequestOutcome::Cancelled),
            answer = answered => match answer {
                Ok(Ok(answer)) if answer.approved => (Ok(answer), RequestOutcome::Approved),
                Ok(Ok(answer)) => (Ok(answer), RequestOutcome::Denied),
                Ok(Err(unanswered)) => (Err(unanswered), RequestOutcome::Cancelled),
                Err(_) => (Err(Unanswered::Cancelled), RequestOutcome::Cancelled),
            },
            () = tokio::time::sleep(timeout) => (Err(Unanswered::Timeout(timeout)), RequestOutcome::Timeout),
        };
        pending.outcome = Some(outcome);
        answer
    }

    /// Delivers an answer to the request it names. Returns false when no such request is waiting: it
    /// was already answered, timed out, or never existed.
    pub fn respond(&self, id: &str, answer: ConfirmationAnswer) -> bool {
        self.settle(id, Ok(answer))
    }

    /// Ends a request as cancelled.
    pub fn cancel(&self, id: &str) -> bool {
        self.settle(id, Err(Unanswered::Cancelled))
    }

    /// Ends a request that a listener failed to show.
    pub fn fail(&self, id: &str, reason: String) -> bool {
        self.settle(id, Err(Unanswered::NoListener(reason)))
    }

    /// Reports that the host turned out to have no listener for a request. The request is refused,
    /// unless there is a responder. Returns true when it was refused.
    pub fn no_listener(&self, id: &str) -> bool {
        !self.has_responder() && self.fail(id, NO_LISTENER.to_owned())
    }

    fn has_responder(&self) -> bool {
        self.responders.load(Ordering::Acquire) > 0
    }

    fn notify_watchers(&self, event: &BusEvent, span: RequestSpan) {
        let watchers = self.watchers.read().clone();
        for (_, watcher) in watchers {
            watcher(event, span);
        }
    }

    fn settle(&self, id: &str, answer: Result<ConfirmationAnswer, Unanswered>) -> bool {
        let waiting = self.pending.lock().remove(id);
        waiting.is_some_and(|waiting| waiting.sender.send(answer).is_ok())
    }

    /// A unique id that cannot be guessed from other ids, with its number.
    fn next_id(&self) -> (u64, String) {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let halves = [0_u8, 1].map(|half| self.seed.hash_one((number, half)));
        (number, format!("confirm-{number}-{:016x}{:016x}", halves[0], halves[1]))
    }
}

/// The reason for refusing a request that reached no listener.
const NO_LISTENER: &str = "no listener is registered";

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A function that receives the events of a bus until this is dropped.
#[must_use = "once dropped, the function receives no more events"]
pub struct BusWatch {
    bus: SharedBus,
    number: u64,
}

impl Drop for BusWatch {
    fn drop(&mut self) {
        let mut watchers = self.bus.watchers.write();
        watchers.retain(|(number, _)| *number != self.number);
    }
}

/// Says that requests can be answered, until it is dropped. See [`MessageBus::add_responder`].
#[must_use = "once dropped, requests no longer wait for an answer"]
#[derive(Debug)]
pub struct Responder(SharedBus);

impl Drop for Responder {
    fn drop(&mut self) {
        self.0.responders.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A request that waits. When it is dropped, also because the call itself was dropped, it removes the
/// request and reports the outcome to the listeners.
struct PendingRequest<'a> {
    bus: &'a MessageBus,
    id: &'a str,
    span: RequestSpan,
    /// The outcome to report to the listeners; `None` until they have received the request.
    outcome: Option<RequestOutcome>,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.bus.pending.lock().remove(self.id);
        if let Some(outcome) = self.outcome {
            let settled = BusEvent::Settled { id: self.id.to_owned(), outcome };
            (self.bus.notify)(&settled);
            self.bus.notify_watchers(&settled, self.span);
        }
    }
}

impl std::fmt::Debug for MessageBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageBus")
            .field("pending", &self.pending.lock().len())
            .finish_non_exhaustive()
    }
}

/// A shared bus.
pub type SharedBus = Arc<MessageBus>;

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    /// A bus and the ids of its requests, in order.
    fn bus() -> (SharedBus, Arc<Mutex<Vec<String>>>) {
        let ids = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&ids);
        let bus = MessageBus::new(move |event| {
            if let BusEvent::Request { id, .. } = event {
                seen.lock().push(id.clone());
            }
            true
        });
        (Arc::new(bus), ids)
    }

    fn summary(event: &BusEvent) -> (String, Option<RequestOutcome>) {
        match event {
            BusEvent::Request { id, .. } => (id.clone(), None),
            BusEvent::Settled { id, outcome } => (id.clone(), Some(*outcome)),
        }
    }

    fn yes() -> ConfirmationAnswer {
        ConfirmationAnswer { approved: true, ..ConfirmationAnswer::default() }
    }

    async fn ask(bus: &MessageBus) -> Result<ConfirmationAnswer, Unanswered> {
        bus.request(json!({}), TIMEOUT, &CancellationToken::new()).await
    }

    #[test]
    fn only_the_boolean_true_approves() {
        for approved in [json!("true"), json!(1), json!(null), json!({}), json!(false)] {
            let answer: ConfirmationAnswer =
                serde_json::from_value(json!({ "approved": approved })).unwrap();
            assert!(!answer.approved);
        }
        assert!(
            serde_json::from_value::<ConfirmationAnswer>(json!({ "approved": true }))
                .unwrap()
                .approved
        );
        assert!(!serde_json::from_value::<ConfirmationAnswer>(json!({})).unwrap().approved);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_reaches_only_its_request_and_only_once() {
        let (bus, ids) = bus();
        let (first, second, ()) = tokio::join!(ask(&bus), ask(&bus), async {
            tokio::task::yield_now().await;
            let ids = ids.lock().clone();
            assert!(bus.respond(&ids[1], ConfirmationAnswer::default()));
            assert!(bus.respond(&ids[0], yes()));
            assert!(!bus.respond(&ids[1], yes()));
            assert!(!bus.respond("confirm-7-0", yes()));
        });
        assert_eq!((first, second), (Ok(yes()), Ok(ConfirmationAnswer::default())));
        assert!(bus.pending.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_a_missing_listener_and_a_cancellation_count_as_refused() {
        let (bus, ids) = bus();
        assert_eq!(ask(&bus).await, Err(Unanswered::Timeout(TIMEOUT)));
        assert!(!bus.respond(&ids.lock()[0], yes()));
        let cancel = CancellationToken::new();
        let (cancelled, ()) = tokio::join!(bus.request(json!({}), TIMEOUT, &cancel), async {
            cancel.cancel();
        });
        assert_eq!(cancelled, Err(Unanswered::Cancelled));
        assert!(matches!(
            ask(&MessageBus::without_listeners()).await,
            Err(Unanswered::NoListener(_))
        ));
        let (failed, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            let id = ids.lock().last().unwrap().clone();
            assert!(bus.fail(&id, "the listener threw".to_owned()));
        });
        assert_eq!(failed, Err(Unanswered::NoListener("the listener threw".to_owned())));
        assert!(bus.pending.lock().is_empty());
    }

    #[tokio::test]
    async fn a_dropped_request_is_removed_and_reported_as_cancelled() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let bus = MessageBus::new(move |event| {
            seen.lock().push(event.clone());
            true
        });
        tokio::select! {
            biased;
            _ = ask(&bus) => unreachable!("there is no answer"),
            () = std::future::ready(()) => {}
        }
        assert!(bus.pending.lock().is_empty());
        let received = events.lock().iter().map(summary).collect::<Vec<_>>();
        let id = received[0].0.clone();
        assert_eq!(received, [(id.clone(), None), (id, Some(RequestOutcome::Cancelled))]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_a_responder_and_watchers_receive_it_and_its_outcome() {
        let bus = Arc::new(MessageBus::without_listeners());
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        let watch = bus.watch(move |event, _| seen.lock().push(summary(event)));
        assert!(matches!(ask(&bus).await, Err(Unanswered::NoListener(_))), "a watch is not enough");
        let responder = bus.add_responder();
        let (answer, id) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            let waiting = bus.waiting(10);
            let RequestSpan { asked_at, expires_at } = waiting[0].span;
            assert_eq!((waiting.len(), expires_at - asked_at), (1, 60_000));
            let id = waiting[0].id.clone();
            assert!(!bus.no_listener(&id), "a responder is there, so the request still waits");
            assert!(bus.respond(&id, yes()));
            assert!(!bus.respond(&id, yes()));
            id
        });
        assert_eq!(answer, Ok(yes()));
        let (timed_out, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            drop(responder);
        });
        assert_eq!(timed_out, Err(Unanswered::Timeout(TIMEOUT)));
        assert!(matches!(ask(&bus).await, Err(Unanswered::NoListener(_))));
        drop(watch);
        assert!(bus.waiting(10).is_empty() && bus.watchers.read().is_empty());
        let received = received.lock();
        assert_eq!(received[..2], [(id.clone(), None), (id, Some(RequestOutcome::Approved))]);
        let outcomes: Vec<_> = received[2..].iter().map(|it| it.1).collect();
        assert_eq!(outcomes, [None, Some(RequestOutcome::Timeout)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_a_listener_is_refused() {
        let (bus, ids) = bus();
        let (refused, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            assert!(bus.no_listener(&ids.lock()[0]));
        });
        assert_eq!(refused, Err(Unanswered::NoListener("no listener is registered".to_owned())));
    }
}
