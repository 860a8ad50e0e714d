//! A call of a host's declarative tool. The facade makes an invocation object for it, and keeps the object until
//! the call has ended.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolwright_base::{ErrorKind, Risk, ToolError};
use toolwright_core::{OwnConfirmation, ProgressSink, ToolContext};

use super::{
    HostFunction,
    handler_answer::{AnswerError, unreachable_host},
};

/// The facade's invocation object of one call, identified by its key.
pub(super) struct OwnInvocation {
    function: Arc<dyn HostFunction>,
    tool: String,
    key: u32,
    /// True once the facade may have made the object.
    is_made: AtomicBool,
    /// How the confirmation request ended, if there was one.
    outcome: Mutex<Option<&'static str>>,
}

/// The facade's message about an invocation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum InvocationMessage {
    /// The details of the call.
    Said(Said),
    /// `shouldConfirmExecute` threw, which refuses the call.
    Refused(String),
    /// `shouldConfirmExecute` returned neither `false` nor details.
    Unclear(String),
    /// The invocation could not be made, or another method failed.
    Failed(AnswerError),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    description: Option<String>,
    locations: Option<Vec<String>>,
    risk: Option<Risk>,
    more: Map<String, Value>,
}

impl OwnInvocation {
    pub(super) fn new(function: &Arc<dyn HostFunction>, tool: &str) -> Self {
        Self {
            function: Arc::clone(function),
            tool: tool.to_owned(),
            key: function.new_key(),
            is_made: AtomicBool::new(false),
            outcome: Mutex::new(None),
        }
    }

    pub(super) fn key(&self) -> u32 {
        self.key
    }

    /// Makes the invocation and gets its details.
    pub(super) async fn own_confirmation(
        &self,
        input: &Value,
        cx: &ToolContext,
    ) -> Result<OwnConfirmation, ToolError> {
        self.is_made.store(true, Ordering::Relaxed);
        let context = json!({
            "toolUseId": &*cx.tool_use_id,
            "sessionId": &cx.session.id,
            "invocation": self.key,
            "step": "own_confirmation",
        });
        let Said { description, locations, risk, more } = self.ask(input, &context).await?;
        Ok(OwnConfirmation { description, locations, risk, more })
    }

    /// Reports the approval to the invocation.
    pub(super) async fn confirmed(&self) -> Result<(), ToolError> {
        let context = json!({ "invocation": self.key, "step": "confirmed" });
        self.ask(&Value::Null, &context).await.map(|_said| ())
    }

    pub(super) fn abandoned(&self, outcome: &'static str) {
        *self.outcome.lock() = Some(outcome);
    }

    async fn ask(&self, input: &Value, context: &Value) -> Result<Said, ToolError> {
        let answered = self.function.call(input, context, ProgressSink::default()).await;
        let answer = answered.ok_or_else(|| unreachable_host(&self.tool))?;
        let name = &self.tool;
        let refusal = |message: String, reason: String| {
            ToolError::new(ErrorKind::PolicyDenied, message).with_details(
                &reason,
                "a host can allow it by another answer of the tool's `shouldConfirmExecute`",
                Vec::new(),
            )
        };
        match serde_json::from_str(&answer) {
            Ok(InvocationMessage::Said(said)) => Ok(said),
            Ok(InvocationMessage::Refused(words)) => Err(refusal(
                format!(
                    "`{name}` refuses the call: {words}; do it in another way, or ask the user"
                ),
                format!("`shouldConfirmExecute` of `{name}` threw: {words}"),
            )),
            Ok(InvocationMessage::Unclear(words)) => Err(unclear(name, &words, refusal)),
            Ok(InvocationMessage::Failed(error)) => Err(error.into()),
            Err(err) => Err(unclear(name, &err.to_string(), refusal)),
        }
    }
}

/// It is unknown whether the call needs a confirmation, so it is refused.
fn unclear(
    name: &str,
    words: &str,
    refusal: impl FnOnce(String, String) -> ToolError,
) -> ToolError {
    refusal(
        format!(
            "`{name}` could not say whether the call needs a confirmation, so it was not run; continue \
             without it, or ask the user"
        ),
        format!("`shouldConfirmExecute` of `{name}` must return `false` or details: {words}"),
    )
}

impl Drop for OwnInvocation {
    fn drop(&mut self) {
        if self.is_made.load(Ordering::Relaxed) {
            let outcome = self.outcome.get_mut();
            self.function.release_key(self.key, outcome.unwrap_or_default());
        }
    }
}
