//! The message bus as JavaScript holds it.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use napi::{
    Env, Status,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde_json::{Value, json};

use super::{callbacks::Listener, cancel::CancelHandle, envelope::misuse};
use crate::{
    confirm::{ConfirmationAnswer, MessageBus, Unanswered},
    error::{ErrorKind, ToolError},
    host::parsed,
};

/// Carries requests to JavaScript's listeners and their answers back.
#[napi]
pub struct NativeMessageBus {
    pub(super) bus: Arc<MessageBus>,
    facade: Facade,
}

/// The function that hears the events, while somebody may ask over the bus.
type Facade = Arc<RwLock<Option<Listener>>>;

impl Default for NativeMessageBus {
    fn default() -> Self {
        let facade = Facade::default();
        let way = Arc::clone(&facade);
        let bus = Arc::new(MessageBus::new(move |event| {
            let notify = way.read().unwrap_or_else(PoisonError::into_inner);
            notify.as_ref().is_some_and(|notify| {
                let json = json!(event).to_string();
                notify.call(json, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
            })
        }));
        Self { bus, facade }
    }
}

#[napi]
impl NativeMessageBus {
    /// A bus that reaches nobody yet.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has a function hear each event, as JSON; nothing for nobody any more.
    #[napi(catch_unwind)]
    pub fn listen(
        &self,
        #[napi(ts_arg_type = "((event: string) => void) | undefined | null")] notify: Option<
            Listener,
        >,
    ) {
        *self.facade.write().unwrap_or_else(PoisonError::into_inner) = notify;
    }

    /// Asks; promises `{ approved }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn request<'env>(
        &self,
        env: &'env Env,
        details: String,
        timeout_ms: f64,
        cancel: Option<&CancelHandle>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bus = Arc::clone(&self.bus);
        let cancel = cancel.map(|it| it.0.clone()).unwrap_or_default();
        let details = parsed::<Value>(&details, ErrorKind::InvalidOptions);
        env.spawn_future(async move {
            let details = match details {
                Ok(details) => details,
                Err(error) => return Ok(misuse(&error)),
            };
            // The facade has checked the number.
            let timeout = Duration::try_from_secs_f64(timeout_ms / 1_000.0).unwrap_or_default();
            Ok(match bus.request(details, timeout, &cancel).await {
                Ok(answer) => json!({ "approved": answer.approved }).to_string(),
                Err(unanswered) => misuse(&error_of(&unanswered)),
            })
        })
    }

    /// Hands on an answer; false when no request waits for it.
    #[napi(catch_unwind)]
    pub fn respond(&self, id: String, answer: String) -> bool {
        // An answer that cannot be parsed counts as a refusal.
        let answer = serde_json::from_str::<ConfirmationAnswer>(&answer).unwrap_or_default();
        self.bus.respond(&id, answer)
    }

    /// Ends a request as cancelled; false when there is none.
    #[napi(catch_unwind)]
    pub fn cancel(&self, id: String) -> bool {
        self.bus.cancel(&id)
    }

    /// Takes note that no listener heard a request; refuses it, unless somebody else attends.
    #[napi(catch_unwind)]
    pub fn unheard(&self, id: String) -> bool {
        self.bus.unheard(&id)
    }

    /// Ends a request that nobody could be shown.
    #[napi(catch_unwind)]
    pub fn fail(&self, id: String, reason: String) -> bool {
        self.bus.fail(&id, reason)
    }
}

fn error_of(unanswered: &Unanswered) -> ToolError {
    match unanswered {
        Unanswered::NoListener(reason) => ToolError::new(
            ErrorKind::PolicyDenied,
            format!(
                "the confirmation request is refused: {reason}; listen with bus.on(\"request\", …)"
            ),
        ),
        Unanswered::Timeout(after) => ToolError::new(
            ErrorKind::ConfirmationTimeout,
            format!("nobody answered the confirmation request within {} ms", after.as_millis()),
        ),
        Unanswered::Cancelled => {
            ToolError::new(ErrorKind::Cancelled, "the confirmation request was cancelled")
        }
    }
}
