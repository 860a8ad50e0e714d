//! Asks the user of a client whether a call may run, where the client can ask.
//!
//! Before 2026-07-28 the server sends the client a request and waits. From then on the call is answered with the
//! question, and the client calls again with the answer: [`OpenQuestions`] keeps what was asked until then.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;
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

use super::{
    era::is_new_era,
    question_form::{answer, form, is_answer},
};
use crate::confirm::{BusEvent, ConfirmationAnswer, MessageBus, SharedBus};

/// The key of our question among those that a client is to answer.
const KEY: &str = "confirmation";
/// How many questions wait for an answer that comes with another call.
const MAX_OPEN: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// How the user of a client is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskingWay {
    /// By a request to the client.
    Request,
    /// By an answer that says what is missing.
    Round,
}

impl AskingWay {
    /// How the user of the client is asked that sent a request; nothing if the client cannot ask.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let elicitation = context.client_capabilities()?.elicitation?;
        // One that names no form of asking means forms.
        let can_ask = elicitation.form.is_some() || elicitation.url.is_none();
        let way = if is_new_era(context) { Self::Round } else { Self::Request };
        can_ask.then_some(way)
    }
}

/// The questions of one call, for the user of one client.
pub(super) struct CallQuestions {
    pub(super) bus: SharedBus,
    events: mpsc::UnboundedReceiver<BusEvent>,
}

/// A question that waits for its answer.
pub(super) struct Question {
    id: String,
    details: Arc<Value>,
}

impl CallQuestions {
    pub(super) fn new() -> Self {
        // A call asks a few times at most.
        let (told, events) = mpsc::unbounded_channel();
        let bus = MessageBus::new(move |event| told.send(event.clone()).is_ok());
        Self { bus: Arc::new(bus), events }
    }

    /// The next question. Never ends if there is none.
    pub(super) async fn next(&mut self) -> Question {
        loop {
            match self.events.recv().await {
                Some(BusEvent::Request { id, details, .. }) => return Question { id, details },
                Some(BusEvent::Settled { .. }) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Answers a question.
    pub(super) fn respond(&self, question: &Question, answer: ConfirmationAnswer) {
        self.bus.respond(&question.id, answer);
    }

    /// Has the client ask its user, and hands on the answer. Ends when nobody waits for the answer any more, which
    /// the client is told, too.
    pub(super) async fn ask(&mut self, question: &Question, peer: &Peer<RoleServer>) {
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

    fn failed(&self, question: &Question, cause: &dyn std::fmt::Display) {
        self.bus.fail(&question.id, format!("the client could not ask its user: {cause}"));
    }
}

/// A request that a client is to answer. Dropped before that, it is withdrawn.
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
            let reason = Some("nobody waits for the answer any more".to_owned());
            tokio::spawn(async move { drop(asked.cancel(reason).await) });
        }
    }
}

/// Waits until a question needs no answer any more.
async fn settled(events: &mut mpsc::UnboundedReceiver<BusEvent>, id: &str) {
    loop {
        match events.recv().await {
            Some(BusEvent::Settled { id: settled, .. }) if settled == id => return,
            Some(_) => {}
            None => return std::future::pending().await,
        }
    }
}

/// Questions that were sent as the answer to a call, until the answer to them comes with the next call.
pub(super) struct OpenQuestions(Mutex<LruCache<String, OpenQuestion>>);

/// What was asked, and until when an answer counts.
struct OpenQuestion {
    shown: blake3::Hash,
    until: Instant,
}

/// What a person has answered to a question that was shown.
pub(super) struct GivenAnswer {
    shown: blake3::Hash,
    answer: ConfirmationAnswer,
}

impl GivenAnswer {
    /// The answer, if this is the very question that it was given to.
    pub(super) fn to(&self, question: &Question) -> Option<ConfirmationAnswer> {
        (self.shown == shown(&question.details)).then(|| self.answer.clone())
    }
}

impl Default for OpenQuestions {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_OPEN)))
    }
}

impl OpenQuestions {
    /// The answer to a call that cannot run before its question is answered.
    pub(super) fn put(
        &self,
        question: &Question,
        within: Duration,
    ) -> Result<InputRequiredResult, ErrorData> {
        let no_form = || ErrorData::internal_error("the question has no form", None);
        let params = form(&question.details).ok_or_else(no_form)?;
        // Nobody can guess it, and it counts once.
        let state = uuid::Uuid::new_v4().to_string();
        let open = OpenQuestion { shown: shown(&question.details), until: Instant::now() + within };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(state.clone(), open);
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = InputRequests::from([(KEY.to_owned(), request)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// The answer that comes with a call; nothing if it has none, and the user has to be asked again.
    pub(super) fn take(
        &self,
        call: &CallToolRequestParams,
    ) -> Result<Option<GivenAnswer>, ErrorData> {
        let given = call.input_responses.as_ref().and_then(|it| it.get(KEY));
        let Some(state) = &call.request_state else { return Ok(None) };
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop(state);
        let open = open.filter(|it| it.until > Instant::now()).ok_or_else(|| {
            let message = "the request state is not one of this server, was used before or is too old; call \
                           without it";
            ErrorData::invalid_params(message, None)
        })?;
        let Some(given) = given else { return Ok(None) };
        if !is_answer(given) {
            let message = format!("the input response `{KEY}` is not the result of an elicitation");
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(Some(GivenAnswer { shown: open.shown, answer: answer(given) }))
    }
}

/// What a person is shown, as far as it does not differ between two calls that are the same.
fn shown(details: &Value) -> blake3::Hash {
    let fields = details.as_object().into_iter().flatten();
    let same: Vec<Value> =
        fields.filter(|(name, _)| *name != "toolUseId").map(|it| json!(it)).collect();
    blake3::hash(Value::Array(same).to_string().as_bytes())
}
