//! Hooks in the options of a host: functions and shell commands.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{ProgressSink, ToolContext};
use toolwright_pipeline::{CommandHook, Hook, HookEvent, HookRunner, ToolMatcher};

use super::HostFunction;

/// A hook in the options of a registry.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HookSpec {
    event: String,
    #[serde(default)]
    matcher: String,
    #[schemars(range(min = 1, max = 2_147_483_647))]
    timeout_ms: u32,
    /// A shell command. Without one, the hook is a function.
    #[serde(default)]
    command: Option<String>,
    /// The number of the function.
    #[serde(default)]
    callback: u32,
}

impl HookSpec {
    pub(super) fn build(
        self,
        function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
    ) -> Result<Hook, ToolError> {
        let wrong = |message| ToolError::new(ErrorKind::InvalidOptions, message);
        let event =
            HookEvent::ALL.into_iter().find(|it| it.as_str() == self.event).ok_or_else(|| {
                let known = HookEvent::ALL.map(|it| format!("`{}`", it.as_str())).join(", ");
                wrong(format!("no hook event is named `{}`; there are {known}", self.event))
            })?;
        let matcher = ToolMatcher::new(&self.matcher)
            .map_err(|cause| wrong(format!("a {} hook: {cause}", self.event)))?;
        let runner: Box<dyn HookRunner> = match self.command {
            Some(command) => Box::new(CommandHook { command }),
            None => Box::new(FunctionHook(function(self.callback))),
        };
        let timeout = Duration::from_millis(u64::from(self.timeout_ms));
        Ok(Hook { event, matcher, timeout, runner })
    }
}

struct FunctionHook(Arc<dyn HostFunction>);

/// The answer of a hook's function.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum HookFunctionAnswer {
    Answer(Value),
    Failure(String),
}

#[async_trait]
impl HookRunner for FunctionHook {
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String> {
        let context = json!({ "toolUseId": &*cx.tool_use_id, "sessionId": cx.session.id });
        let answered = self.0.call(event, &context, ProgressSink::default()).await;
        let outcome = answered.ok_or("its JavaScript environment has ended")?;
        match serde_json::from_str(&outcome).map_err(|err| err.to_string())? {
            HookFunctionAnswer::Answer(answer) => Ok(answer),
            HookFunctionAnswer::Failure(message) => Err(message),
        }
    }
}
