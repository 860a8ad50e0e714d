//! The functions of the option `handlers`, which built-in tools call.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{HandlerName, Handlers, HostHandler, ToolContext};

use super::{HostFunction, handler_answer::AnswerError};

/// Makes the handlers from the numbers of their functions.
pub(super) fn handlers_of(
    numbers: &BTreeMap<String, u32>,
    function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
) -> Result<Handlers, ToolError> {
    let mut handlers = Handlers::default();
    for (name, number) in numbers {
        let known = HandlerName::ALL.into_iter().find(|it| it.as_str() == name);
        let name = known.ok_or_else(|| {
            let known = HandlerName::ALL.map(|it| format!("`{}`", it.as_str())).join(", ");
            let message = format!("no handler is named `{name}`; there are {known}");
            ToolError::new(ErrorKind::InvalidOptions, message)
        })?;
        handlers.insert(name, Arc::new(NamedFunction { name, function: function(*number) }));
    }
    Ok(handlers)
}

struct NamedFunction {
    name: HandlerName,
    function: Arc<dyn HostFunction>,
}

/// The facade's message about a function's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum FunctionAnswer {
    Answer(Value),
    Failure(AnswerError),
}

impl NamedFunction {
    /// The second argument of the function.
    fn context(facts: Value, cx: &ToolContext) -> Value {
        let mut context = Map::new();
        context.insert("toolUseId".to_owned(), (&*cx.tool_use_id).into());
        context.insert("sessionId".to_owned(), cx.session.id.as_str().into());
        context.insert("watched".to_owned(), cx.progress.is_watched().into());
        if let Value::Object(facts) = facts {
            context.extend(facts);
        }
        context.into()
    }

    /// Reads the facade's message. `None` means that the function could not be called.
    fn answer(&self, answered: Option<&str>) -> Result<Value, ToolError> {
        let failed = |what: &str| {
            let message = format!("`handlers.{}` {what}", self.name.as_str());
            ToolError::new(ErrorKind::ToolFailed, message)
        };
        let answer = answered
            .ok_or_else(|| failed("cannot be called: its JavaScript environment has ended"))?;
        match serde_json::from_str(answer) {
            Ok(FunctionAnswer::Answer(answer)) => Ok(answer),
            Ok(FunctionAnswer::Failure(error)) => Err(error.into()),
            Err(cause) => Err(failed(&format!("returned an invalid answer: {cause}"))),
        }
    }
}

#[async_trait]
impl HostHandler for NamedFunction {
    async fn call(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let (context, progress) = (Self::context(facts, cx), cx.progress.clone());
        self.answer(self.function.call(input, &context, progress).await.as_deref())
    }

    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        stop: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let (context, progress) = (Self::context(facts, cx), cx.progress.clone());
        let answered = self.function.call_until_stopped(input, &context, progress, stop).await;
        self.answer(answered.as_deref())
    }
}
