//! The message bus, for JavaScript.

use std::{sync::Arc, time::Duration};

use napi::{
    Env, Status,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use parking_lot::RwLock;
use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_host::parsed;
use toolwright_pipeline::{ConfirmationAnswer, MessageBus};

use crate::{callbacks::Listener, cancel::CancelHandle, envelope::misuse};

/// Carries requests to JavaScript's listeners and their answers back.
#[napi]
pub struct NativeMessageBus {
    pub(super) bus: Arc<MessageBus>,
    facade: Facade,
}

/// The JavaScript function that receives the events. `None` while no request can be made.
type Facade = Arc<RwLock<Option<Listener>>>;

impl Default for NativeMessageBus {
    fn default() -> Self {
        let facade = Facade::default();
        let current = Arc::clone(&facade);
        let bus = Arc::new(MessageBus::new(move |event| {
            let notify = current.read();
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
    /// A bus without a listener.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that receives each event as JSON. `null` removes it.
    #[napi(catch_unwind)]
    pub fn listen(
        &self,
        #[napi(ts_arg_type = "((event: string) => void) | undefined | null")] notify: Option<
            Listener,
        >,
    ) {
        *self.facade.write() = notify;
    }

    /// Sends a confirmation request. Resolves with `{ approved }` as JSON.
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
                Err(unanswered) => misuse(&unanswered.error()),
            })
        })
    }

    /// Forwards an answer to its request. Returns false when no request waits for it.
    #[napi(catch_unwind)]
    pub fn respond(&self, id: String, answer: String) -> bool {
        // An answer that cannot be parsed counts as a refusal.
        let answer = serde_json::from_str::<ConfirmationAnswer>(&answer).unwrap_or_default();
        self.bus.respond(&id, answer)
    }

    /// Ends a request as cancelled. Returns false when no such request waits.
    #[napi(catch_unwind)]
    pub fn cancel(&self, id: String) -> bool {
        self.bus.cancel(&id)
    }

    /// Reports that the host has no listener for a request. Refuses it, unless there is a responder.
    #[napi(catch_unwind)]
    pub fn no_listener(&self, id: String) -> bool {
        self.bus.no_listener(&id)
    }

    /// Refuses a request because its listener failed.
    #[napi(catch_unwind)]
    pub fn fail(&self, id: String, reason: String) -> bool {
        self.bus.fail(&id, reason)
    }
}
