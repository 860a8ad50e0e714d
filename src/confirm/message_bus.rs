//! The connection to the people who are asked. A request goes out with an id, and the answer to it names
//! that id.
//!
//! It knows nothing of tools. A request that is lost, times out or is cancelled counts as refused.
//!
//! Two kinds of listeners hear it. The function that the bus is made with stands for the host's listeners and
//! says whether it reached any. Watchers come and go, and hear the same; whether one of them stands for
//! somebody who answers is told by an [`Attendance`].

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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
    /// Tells the listeners of the host; false when there are none.
    notify: Notify,
    /// Those who hear every event besides, by the number of their watch.
    watchers: RwLock<Vec<(u64, BusWatcher)>>,
    watches: AtomicU64,
    /// How many attend to answer requests, besides the listeners of the host.
    attending: AtomicUsize,
    pending: Mutex<HashMap<String, PendingAnswer>>,
    seed: RandomState,
    asked: AtomicU64,
}

/// A request in the table of those that wait.
struct PendingAnswer {
    number: u64,
    details: Arc<Value>,
    span: RequestSpan,
    sender: oneshot::Sender<Result<ConfirmationAnswer, Unanswered>>,
}

impl MessageBus {
    /// A bus that tells a function of every event. The function must not block.
    pub fn new(notify: impl Fn(&BusEvent) -> bool + Send + Sync + 'static) -> Self {
        Self {
            notify: Box::new(notify),
            watchers: RwLock::default(),
            watches: AtomicU64::new(0),
            attending: AtomicUsize::new(0),
            pending: Mutex::default(),
            seed: RandomState::new(),
            asked: AtomicU64::new(0),
        }
    }

    /// A bus without listeners: every request is refused, unless somebody attends.
    pub fn deaf() -> Self {
        Self::new(|_| false)
    }

    /// Has a function hear every event until the watch is dropped. It must not block. A watch alone does not
    /// make requests wait: see [`Self::attend`].
    pub fn watch(
        self: &Arc<Self>,
        watcher: impl Fn(&BusEvent, RequestSpan) + Send + Sync + 'static,
    ) -> BusWatch {
        let number = self.watches.fetch_add(1, Ordering::Relaxed);
        let mut watchers = self.watchers.write().unwrap_or_else(PoisonError::into_inner);
        watchers.push((number, Arc::new(watcher)));
        drop(watchers);
        BusWatch { bus: Arc::clone(self), number }
    }

    /// Takes note that somebody sees requests and may answer them, until the value is dropped. A request that
    /// waits when the last one leaves goes on waiting until its time is up.
    pub fn attend(self: &Arc<Self>) -> Attendance {
        self.attending.fetch_add(1, Ordering::AcqRel);
        Attendance(Arc::clone(self))
    }

    /// The requests that wait, oldest first, at most this many.
    pub fn waiting(&self, most: usize) -> Vec<WaitingRequest> {
        let pending = self.lock();
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
        self.lock().insert(id.clone(), waiting);
        let mut pending = PendingRequest { bus: self, id: &id, span, outcome: None };
        let request = BusEvent::Request { id: id.clone(), details, timeout: milliseconds };
        if !((self.notify)(&request) || self.is_attended()) {
            return Err(Unanswered::NoListener(NOBODY.to_owned()));
        }
        self.tell_watchers(&request, span);
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

    /// Hands an answer to the request it names. False when no request waits for it, because it was answered
    /// before, timed out or never existed.
    pub fn respond(&self, id: &str, answer: ConfirmationAnswer) -> bool {
        self.settle(id, Ok(answer))
    }

    /// Ends a request as cancelled.
    pub fn cancel(&self, id: &str) -> bool {
        self.settle(id, Err(Unanswered::Cancelled))
    }

    /// Ends a request that its listener failed to show.
    pub fn fail(&self, id: &str, reason: String) -> bool {
        self.settle(id, Err(Unanswered::NoListener(reason)))
    }

    /// Takes note that the function of the host found no listener for a request after all. The request is
    /// refused, unless somebody else attends.
    pub fn unheard(&self, id: &str) -> bool {
        !self.is_attended() && self.fail(id, NOBODY.to_owned())
    }

    fn is_attended(&self) -> bool {
        self.attending.load(Ordering::Acquire) > 0
    }

    fn tell_watchers(&self, event: &BusEvent, span: RequestSpan) {
        let watchers = self.watchers.read().unwrap_or_else(PoisonError::into_inner).clone();
        for (_, watcher) in watchers {
            watcher(event, span);
        }
    }

    fn settle(&self, id: &str, answer: Result<ConfirmationAnswer, Unanswered>) -> bool {
        let waiting = self.lock().remove(id);
        waiting.is_some_and(|waiting| waiting.sender.send(answer).is_ok())
    }

    /// A unique id that cannot be guessed from other ids, and its number.
    fn next_id(&self) -> (u64, String) {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let halves = [0_u8, 1].map(|half| self.seed.hash_one((number, half)));
        (number, format!("confirm-{number}-{:016x}{:016x}", halves[0], halves[1]))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PendingAnswer>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a request is refused that reached nobody.
const NOBODY: &str = "nobody listens";

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A function that hears the events of a bus until this is dropped.
#[must_use = "dropped, it hears nothing"]
pub struct BusWatch {
    bus: SharedBus,
    number: u64,
}

impl Drop for BusWatch {
    fn drop(&mut self) {
        let mut watchers = self.bus.watchers.write().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|(number, _)| *number != self.number);
    }
}

/// Somebody who sees requests and may answer them, until this is dropped.
#[must_use = "dropped, nobody attends"]
#[derive(Debug)]
pub struct Attendance(SharedBus);

impl Drop for Attendance {
    fn drop(&mut self) {
        self.0.attending.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A request that waits. Dropping it removes the request and tells the listeners how it ended, also when
/// the call itself was dropped.
struct PendingRequest<'a> {
    bus: &'a MessageBus,
    id: &'a str,
    span: RequestSpan,
    /// How the request ended, for the listeners; `None` until they have been told of the request.
    outcome: Option<RequestOutcome>,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.bus.lock().remove(self.id);
        if let Some(outcome) = self.outcome {
            let settled = BusEvent::Settled { id: self.id.to_owned(), outcome };
            (self.bus.notify)(&settled);
            self.bus.tell_watchers(&settled, self.span);
        }
    }
}

impl std::fmt::Debug for MessageBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageBus").field("pending", &self.lock().len()).finish_non_exhaustive()
    }
}

/// A bus that is shared.
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
                seen.lock().unwrap().push(id.clone());
            }
            true
        });
        (Arc::new(bus), ids)
    }

    fn told(event: &BusEvent) -> (String, Option<RequestOutcome>) {
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
    async fn an_answer_reaches_its_own_request_and_counts_once() {
        let (bus, ids) = bus();
        let (first, second, ()) = tokio::join!(ask(&bus), ask(&bus), async {
            tokio::task::yield_now().await;
            let ids = ids.lock().unwrap().clone();
            assert!(bus.respond(&ids[1], ConfirmationAnswer::default()));
            assert!(bus.respond(&ids[0], yes()));
            assert!(!bus.respond(&ids[1], yes()));
            assert!(!bus.respond("confirm-7-0", yes()));
        });
        assert_eq!((first, second), (Ok(yes()), Ok(ConfirmationAnswer::default())));
        assert!(bus.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_in_time_no_listener_and_a_cancelled_request_count_as_refused() {
        let (bus, ids) = bus();
        assert_eq!(ask(&bus).await, Err(Unanswered::Timeout(TIMEOUT)));
        assert!(!bus.respond(&ids.lock().unwrap()[0], yes()));
        let cancel = CancellationToken::new();
        let (cancelled, ()) = tokio::join!(bus.request(json!({}), TIMEOUT, &cancel), async {
            cancel.cancel();
        });
        assert_eq!(cancelled, Err(Unanswered::Cancelled));
        assert!(matches!(ask(&MessageBus::deaf()).await, Err(Unanswered::NoListener(_))));
        let (failed, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            let id = ids.lock().unwrap().last().unwrap().clone();
            assert!(bus.fail(&id, "the listener threw".to_owned()));
        });
        assert_eq!(failed, Err(Unanswered::NoListener("the listener threw".to_owned())));
        assert!(bus.lock().is_empty());
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_does_not_stay_and_is_withdrawn() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let bus = MessageBus::new(move |event| {
            seen.lock().unwrap().push(event.clone());
            true
        });
        tokio::select! {
            biased;
            _ = ask(&bus) => unreachable!("nobody answered"),
            () = std::future::ready(()) => {}
        }
        assert!(bus.lock().is_empty());
        let told = events.lock().unwrap().iter().map(told).collect::<Vec<_>>();
        let id = told[0].0.clone();
        assert_eq!(told, [(id.clone(), None), (id, Some(RequestOutcome::Cancelled))]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_while_somebody_attends_and_the_watchers_hear_it_and_its_end() {
        let bus = Arc::new(MessageBus::deaf());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heard);
        let watch = bus.watch(move |event, _| seen.lock().unwrap().push(told(event)));
        assert!(matches!(ask(&bus).await, Err(Unanswered::NoListener(_))), "a watch is not enough");
        let attendance = bus.attend();
        let (answer, id) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            let waiting = bus.waiting(10);
            let RequestSpan { asked_at, expires_at } = waiting[0].span;
            assert_eq!((waiting.len(), expires_at - asked_at), (1, 60_000));
            let id = waiting[0].id.clone();
            assert!(!bus.unheard(&id), "the host has no listener, and that ends nothing");
            assert!(bus.respond(&id, yes()));
            assert!(!bus.respond(&id, yes()));
            id
        });
        assert_eq!(answer, Ok(yes()));
        let (timed_out, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            drop(attendance);
        });
        assert_eq!(timed_out, Err(Unanswered::Timeout(TIMEOUT)));
        assert!(matches!(ask(&bus).await, Err(Unanswered::NoListener(_))));
        drop(watch);
        assert!(bus.waiting(10).is_empty() && bus.watchers.read().unwrap().is_empty());
        let heard = heard.lock().unwrap();
        assert_eq!(heard[..2], [(id.clone(), None), (id, Some(RequestOutcome::Approved))]);
        let outcomes: Vec<_> = heard[2..].iter().map(|it| it.1).collect();
        assert_eq!(outcomes, [None, Some(RequestOutcome::Timeout)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_the_host_cannot_show_is_refused_unless_somebody_attends() {
        let (bus, ids) = bus();
        let (unheard, ()) = tokio::join!(ask(&bus), async {
            tokio::task::yield_now().await;
            assert!(bus.unheard(&ids.lock().unwrap()[0]));
        });
        assert_eq!(unheard, Err(Unanswered::NoListener("nobody listens".to_owned())));
    }
}
