//! Asks the user of a client whether a call may run, if the client supports elicitation.
//!
//! Up to protocol 2025-11-25, the server sends the client a request and waits. From 2026-07-28 on, the call is
//! answered with the question, and the client calls again with the user's answer. [`OpenQuestions`] keeps the
//! question until then.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolRequestParams, ClientResult, ElicitRequest, InputRequest, InputRequests,
        InputRequiredResult, ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError},
};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};
use toolwright_pipeline::{BusEvent, ConfirmationAnswer, MessageBus, SharedBus};

use super::{
    era::is_new_era,
    question_form::{answer, form, is_answer},
};

/// The key of our question among the input requests.
const KEY: &str = "confirmation";
/// The maximum number of questions that wait for a second call with the answer.
const MAX_OPEN: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// How a question reaches the user of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuestionDelivery {
    /// As a request to the client.
    Request,
    /// As the answer to the call. The client then calls again.
    CallAnswer,
}

impl QuestionDelivery {
    /// The delivery for the client that sent a request, or `None` if the client cannot ask its user.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let elicitation = context.client_capabilities()?.elicitation?;
        // A client that declares neither form nor URL supports forms.
        let can_ask = elicitation.form.is_some() || elicitation.url.is_none();
        let delivery = if is_new_era(context) { Self::CallAnswer } else { Self::Request };
        can_ask.then_some(delivery)
    }
}

/// The questions of one call, for the user of one client.
pub(super) struct CallQuestions {
    pub(super) bus: SharedBus,
    events: mpsc::UnboundedReceiver<BusEvent>,
}

/// A question that waits for its answer.
pub(super) struct ClientQuestion {
    id: String,
    details: Arc<Value>,
}

impl CallQuestions {
    pub(super) fn new() -> Self {
        // Unbounded, because a call asks only a few times.
        let (sender, events) = mpsc::unbounded_channel();
        let bus = MessageBus::new(move |event| sender.send(event.clone()).is_ok());
        Self { bus: Arc::new(bus), events }
    }

    /// The next question. Waits forever if there is none.
    pub(super) async fn next(&mut self) -> ClientQuestion {
        loop {
            match self.events.recv().await {
                Some(BusEvent::Request { id, details, .. }) => {
                    return ClientQuestion { id, details };
                }
                Some(BusEvent::Settled { .. }) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Answers a question.
    pub(super) fn respond(&self, question: &ClientQuestion, answer: ConfirmationAnswer) {
        self.bus.respond(&question.id, answer);
    }

    /// Lets the client ask its user, and forwards the answer. If the question is settled elsewhere meanwhile, the
    /// request to the client is cancelled.
    pub(super) async fn ask(&mut self, question: &ClientQuestion, peer: &Peer<RoleServer>) {
        let Some(params) = form(&question.details) else {
            self.bus.fail(&question.id, "the question has no form".to_owned());
            return;
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let asked = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut asked = match asked {
            Ok(asked) => AskedClient(Some(asked)),
            Err(error) => return self.failed(question, &error),
        };
        let answered = tokio::select! {
            answered = asked.answered() => answered,
            () = settled(&mut self.events, &question.id) => return,
        };
        match answered {
            Ok(result) => {
                let result = serde_json::to_value(&result).unwrap_or_default();
                self.respond(question, answer(&result));
            }
            Err(error) => self.failed(question, &error),
        }
    }

    fn failed(&self, question: &ClientQuestion, cause: &dyn std::fmt::Display) {
        self.bus.fail(&question.id, format!("the client could not ask its user: {cause}"));
    }
}

/// A request to a client. Dropped before the answer, it cancels the request.
struct AskedClient(Option<RequestHandle<RoleServer>>);

impl AskedClient {
    async fn answered(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(asked) = &mut self.0 else { return std::future::pending().await };
        let answered = (&mut asked.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for AskedClient {
    fn drop(&mut self) {
        if let Some(asked) = self.0.take() {
            let reason = Some("the answer is no longer needed".to_owned());
            tokio::spawn(async move { drop(asked.cancel(reason).await) });
        }
    }
}

/// Waits until a question is settled.
async fn settled(events: &mut mpsc::UnboundedReceiver<BusEvent>, id: &str) {
    loop {
        match events.recv().await {
            Some(BusEvent::Settled { id: settled, .. }) if settled == id => return,
            Some(_) => {}
            None => return std::future::pending().await,
        }
    }
}

/// Questions that were sent as the answer to a call, until the next call brings the user's answer.
pub(super) struct OpenQuestions(Mutex<LruCache<String, OpenQuestion>>);

/// What was asked, and until when an answer is accepted.
struct OpenQuestion {
    shown: blake3::Hash,
    until: Instant,
}

/// The user's answer to a question of an earlier call.
pub(super) struct LaterAnswer {
    shown: blake3::Hash,
    answer: ConfirmationAnswer,
}

impl LaterAnswer {
    /// The answer, if it was given to exactly this question.
    pub(super) fn to(&self, question: &ClientQuestion) -> Option<ConfirmationAnswer> {
        (self.shown == shown(&question.details)).then(|| self.answer.clone())
    }
}

impl Default for OpenQuestions {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_OPEN)))
    }
}

impl OpenQuestions {
    /// Keeps the question and returns the answer to the call that asks it.
    pub(super) fn put(
        &self,
        question: &ClientQuestion,
        within: Duration,
    ) -> Result<InputRequiredResult, ErrorData> {
        let no_form = || ErrorData::internal_error("the question has no form", None);
        let params = form(&question.details).ok_or_else(no_form)?;
        // Random, so that it cannot be guessed. It is accepted once.
        let state = uuid::Uuid::new_v4().to_string();
        let open = OpenQuestion { shown: shown(&question.details), until: Instant::now() + within };
        self.0.lock().put(state.clone(), open);
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = InputRequests::from([(KEY.to_owned(), request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// The answer that a call brings, or `None` if there is none and the user has to be asked again.
    pub(super) fn take(
        &self,
        call: &CallToolRequestParams,
    ) -> Result<Option<LaterAnswer>, ErrorData> {
        let given = call.input_responses.as_ref().and_then(|it| it.get(KEY));
        let Some(state) = &call.request_state else { return Ok(None) };
        let open = self.0.lock().pop(state);
        let open = open.filter(|it| it.until > Instant::now()).ok_or_else(|| {
            let message = "the request state is not from this server, was used before or is too old; call \
                           without it";
            ErrorData::invalid_params(message, None)
        })?;
        let Some(given) = given else { return Ok(None) };
        if !is_answer(given) {
            let message = format!("the input response `{KEY}` is not the result of an elicitation");
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(Some(LaterAnswer { shown: open.shown, answer: answer(given) }))
    }
}

/// A hash of what the person is shown. It leaves out the call's id, so identical calls have the same hash.
fn shown(details: &Value) -> blake3::Hash {
    let fields = details.as_object().into_iter().flatten();
    let same: Vec<Value> =
        fields.filter(|(name, _)| *name != "toolUseId").map(|it| json!(it)).collect();
    blake3::hash(Value::Array(same).to_string().as_bytes())
}
