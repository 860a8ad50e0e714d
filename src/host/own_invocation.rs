//! A call of a host's declarative tool: the facade makes an invocation of it, which is kept from its first
//! word on the call until the call is over.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    HostFunction,
    handler_answer::{AnswerError, unreachable_host},
};
use crate::{
    error::{ErrorKind, ToolError},
    tool::{ProgressSink, Risk, Statement, ToolContext},
};

/// The facade's invocation of one call, known by its key.
pub(super) struct OwnInvocation {
    function: Arc<dyn HostFunction>,
    tool: String,
    key: u32,
    /// True once the facade may keep one.
    is_made: AtomicBool,
    /// How the question about the call ended, where somebody was asked.
    outcome: Mutex<Option<&'static str>>,
}

/// What the facade tells of an invocation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum InvocationMessage {
    /// What it says of its call.
    Said(Said),
    /// It threw when it was asked whether somebody has to confirm it: it wants not to run.
    Refused(String),
    /// What it answered then is neither a no nor details.
    Unclear(String),
    /// It could not be made, or failed at something else.
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

    /// Has the invocation made, and asks it.
    pub(super) async fn statement(
        &self,
        input: &Value,
        cx: &ToolContext,
    ) -> Result<Statement, ToolError> {
        self.is_made.store(true, Ordering::Relaxed);
        let context = json!({
            "toolUseId": &*cx.tool_use_id,
            "sessionId": &cx.session.id,
            "invocation": self.key,
            "step": "statement",
        });
        let Said { description, locations, risk, more } = self.word(input, &context).await?;
        Ok(Statement { description, locations, risk, more })
    }

    /// Tells the invocation that a person agreed.
    pub(super) async fn agreed(&self) -> Result<(), ToolError> {
        let context = json!({ "invocation": self.key, "step": "agreed" });
        self.word(&Value::Null, &context).await.map(|_said| ())
    }

    pub(super) fn given_up(&self, outcome: &'static str) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    async fn word(&self, input: &Value, context: &Value) -> Result<Said, ToolError> {
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

/// Nobody knows whether the call may run unasked, so it does not run.
fn unclear(
    name: &str,
    words: &str,
    refusal: impl FnOnce(String, String) -> ToolError,
) -> ToolError {
    refusal(
        format!(
            "`{name}` could not say whether somebody has to confirm the call, so it was not run; go on \
             without it, or ask the user"
        ),
        format!("`shouldConfirmExecute` of `{name}` has to answer `false` or details: {words}"),
    )
}

impl Drop for OwnInvocation {
    fn drop(&mut self) {
        if self.is_made.load(Ordering::Relaxed) {
            let outcome = self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
            self.function.release_key(self.key, outcome.unwrap_or_default());
        }
    }
}
