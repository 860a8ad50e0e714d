//! The message bus as JavaScript holds it.

use std::{sync::Arc, time::Duration};

use napi::{
    Env, Status,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde_json::{Value, json};

use super::{
    callbacks::Listener,
    cancel::CancelHandle,
    envelope::{misuse, parsed},
};
use crate::{
    confirm::{Answer, MessageBus, Unanswered},
    error::{ErrorKind, ToolError},
};

/// Carries requests to JavaScript's listeners and their answers back.
#[napi]
pub struct NativeMessageBus(pub(super) Arc<MessageBus>);

#[napi]
impl NativeMessageBus {
    /// A bus; `notify` takes each event as JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(#[napi(ts_arg_type = "(event: string) => void")] notify: Listener) -> Self {
        Self(Arc::new(MessageBus::new(move |event| {
            let json = json!(event).to_string();
            notify.call(json, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
        })))
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
        let bus = Arc::clone(&self.0);
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
        // What cannot be read is no yes.
        let answer = serde_json::from_str::<Answer>(&answer).unwrap_or_default();
        self.0.respond(&id, answer)
    }

    /// Ends a request as cancelled; false when there is none.
    #[napi(catch_unwind)]
    pub fn cancel(&self, id: String) -> bool {
        self.0.cancel(&id)
    }

    /// Ends a request that nobody could be shown.
    #[napi(catch_unwind)]
    pub fn fail(&self, id: String, reason: String) -> bool {
        self.0.fail(&id, reason)
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
