//! The host's functions of the option `handlers`, as built-in tools call them.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{HostFunction, handler_answer::AnswerError};
use crate::{
    error::{ErrorKind, ToolError},
    tool::{HandlerName, Handlers, HostHandler, ToolContext},
};

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

/// What the facade makes of a function's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum FunctionAnswer {
    Answer(Value),
    Failure(AnswerError),
}

#[async_trait]
impl HostHandler for NamedFunction {
    async fn call(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let mut context = Map::new();
        context.insert("toolUseId".to_owned(), (&*cx.tool_use_id).into());
        context.insert("sessionId".to_owned(), cx.session.id.as_str().into());
        context.insert("watched".to_owned(), cx.progress.is_watched().into());
        if let Value::Object(facts) = facts {
            context.extend(facts);
        }
        let failed = |what: &str| {
            let message = format!("`handlers.{}` {what}", self.name.as_str());
            ToolError::new(ErrorKind::ToolFailed, message)
        };
        let answered = self.function.call(input, &context.into(), cx.progress.clone()).await;
        let answer = answered
            .ok_or_else(|| failed("cannot be called: its JavaScript environment has ended"))?;
        match serde_json::from_str(&answer) {
            Ok(FunctionAnswer::Answer(answer)) => Ok(answer),
            Ok(FunctionAnswer::Failure(error)) => Err(error.into()),
            Err(cause) => Err(failed(&format!("gave an unreadable answer: {cause}"))),
        }
    }
}
