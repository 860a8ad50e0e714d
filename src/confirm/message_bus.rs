//! The connection to the people who are asked. A request goes out with an id, and the answer to it names
//! that id.
//!
//! It knows nothing of tools. A request that is lost, times out or is cancelled counts as refused.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What the listeners, who show requests to people, are told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum BusEvent {
    /// A request that waits for an answer.
    Request {
        /// The id that the answer has to name.
        id: String,
        /// The tool, its input and whatever else the person is shown.
        details: Value,
        /// How long it waits, in milliseconds.
        timeout: u64,
    },
    /// A request that no longer needs an answer.
    Settled {
        /// The id of the request.
        id: String,
        /// How it ended.
        outcome: RequestOutcome,
    },
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestOutcome {
    /// Somebody said yes.
    Approved,
    /// Somebody said no.
    Denied,
    /// Nobody answered in time.
    Timeout,
    /// The call that asked was cancelled.
    Cancelled,
}

impl RequestOutcome {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What somebody answered. Only `approved: true` is a yes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfirmationAnswer {
    /// True when the call may run.
    #[serde(deserialize_with = "exactly_true")]
    pub approved: bool,
    /// Why the call may not run, in words for the model.
    pub message: Option<String>,
    /// An input to run the call with instead.
    pub updated_input: Option<Value>,
    /// True when calls like this one are not to be asked about again.
    #[serde(deserialize_with = "exactly_true")]
    pub always_allow: bool,
    /// True when the whole turn ends, and not this call alone.
    #[serde(deserialize_with = "exactly_true")]
    pub interrupt: bool,
}

/// Reads a boolean. `"true"`, `1` and the like count as false.
fn exactly_true<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)? == Value::Bool(true))
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// There is no listener, or it failed; the text says which.
    NoListener(String),
    /// Nobody answered within this time.
    Timeout(Duration),
    /// The call that asked was cancelled.
    Cancelled,
}

type Notify = Box<dyn Fn(&BusEvent) -> bool + Send + Sync>;

/// The requests that wait for an answer.
pub struct MessageBus {
    /// Tells the listeners; false when there are none.
    notify: Notify,
    pending: Mutex<HashMap<String, oneshot::Sender<Result<ConfirmationAnswer, Unanswered>>>>,
    seed: RandomState,
    asked: AtomicU64,
}

impl MessageBus {
    /// A bus that tells a function of every event. The function must not block.
    pub fn new(notify: impl Fn(&BusEvent) -> bool + Send + Sync + 'static) -> Self {
        Self {
            notify: Box::new(notify),
            pending: Mutex::default(),
            seed: RandomState::new(),
            asked: AtomicU64::new(0),
        }
    }

    /// A bus without listeners: every request is refused.
    pub fn deaf() -> Self {
        Self::new(|_| false)
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
        let id = self.next_id();
        let (sender, answered) = oneshot::channel();
        self.lock().insert(id.clone(), sender);
        let mut pending = PendingRequest { bus: self, id: &id, outcome: None };
        let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let request = BusEvent::Request { id: id.clone(), details, timeout: milliseconds };
        if !(self.notify)(&request) {
            return Err(Unanswered::NoListener("nobody listens".to_owned()));
        }
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

    fn settle(&self, id: &str, answer: Result<ConfirmationAnswer, Unanswered>) -> bool {
        let waiting = self.lock().remove(id);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    /// A unique id that cannot be guessed from other ids.
    fn next_id(&self) -> String {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let halves = [0_u8, 1].map(|half| self.seed.hash_one((number, half)));
        format!("confirm-{number}-{:016x}{:016x}", halves[0], halves[1])
    }

    fn lock(
        &self,
    ) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Result<ConfirmationAnswer, Unanswered>>>>
    {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits. Dropping it removes the request and tells the listeners how it ended, also when
/// the call itself was dropped.
struct PendingRequest<'a> {
    bus: &'a MessageBus,
    id: &'a str,
    /// How the request ended, for the listeners; `None` until they have been told of the request.
    outcome: Option<RequestOutcome>,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.bus.lock().remove(self.id);
        if let Some(outcome) = self.outcome {
            (self.bus.notify)(&BusEvent::Settled { id: self.id.to_owned(), outcome });
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
}
