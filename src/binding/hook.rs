//! Hooks as a host gives them: JavaScript functions and shell commands.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use napi::{Status, threadsafe_function::ThreadsafeFunctionCallMode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{callbacks::Handler, host_calls::HostCalls};
use crate::{
    error::{ErrorKind, ToolError},
    hooks::{CommandHook, Hook, HookEvent, HookRunner, Matcher},
    tool::{ProgressSink, ToolContext},
};

/// What the facade tells of a hook.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HookSpec {
    event: String,
    #[serde(default)]
    matcher: String,
    #[schemars(range(min = 1, max = 2_147_483_647))]
    timeout_ms: u32,
    /// A shell command; without one the hook is a function of the facade.
    #[serde(default)]
    command: Option<String>,
    /// Which function.
    #[serde(default)]
    callback: u32,
}

impl HookSpec {
    pub(super) fn build(self, callbacks: &HookCallbacks) -> Result<Hook, ToolError> {
        let wrong = |message| ToolError::new(ErrorKind::InvalidOptions, message);
        let event =
            HookEvent::ALL.into_iter().find(|it| it.as_str() == self.event).ok_or_else(|| {
                let known = HookEvent::ALL.map(|it| format!("`{}`", it.as_str())).join(", ");
                wrong(format!("no hook event is named `{}`; there are {known}", self.event))
            })?;
        let matcher = Matcher::new(&self.matcher)
            .map_err(|cause| wrong(format!("a {} hook: {cause}", self.event)))?;
        let runner: Box<dyn HookRunner> = match self.command {
            Some(command) => Box::new(CommandHook { command }),
            None => {
                Box::new(CallbackHook { callback: self.callback, callbacks: callbacks.clone() })
            }
        };
        let timeout = Duration::from_millis(u64::from(self.timeout_ms));
        Ok(Hook { event, matcher, timeout, runner })
    }
}

/// The facade's functions, reached through one of its own by number.
#[derive(Clone)]
pub(super) struct HookCallbacks {
    run: Arc<Handler>,
    calls: Arc<HostCalls>,
}

impl HookCallbacks {
    pub(super) fn new(run: Handler, calls: Arc<HostCalls>) -> Self {
        Self { run: Arc::new(run), calls }
    }
}

struct CallbackHook {
    callback: u32,
    callbacks: HookCallbacks,
}

/// How the facade tells the outcome of a function.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Outcome {
    Answer(Value),
    Failure(String),
}

#[async_trait]
impl HookRunner for CallbackHook {
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String> {
        let gone = || "its JavaScript environment has ended".to_owned();
        let HookCallbacks { run, calls } = &self.callbacks;
        // Dropped when the hook's time is up: its signal is aborted then.
        let (running, answered) = calls.begin(ProgressSink::default());
        let context = json!({
            "callback": self.callback,
            "toolUseId": &*cx.tool_use_id,
            "sessionId": cx.session.id,
        });
        let arguments = (running.key, event.to_string(), context.to_string()).into();
        if run.call(arguments, ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok {
            return Err(gone());
        }
        let outcome = answered.await.map_err(|_| gone())?;
        match serde_json::from_str(&outcome).map_err(|err| err.to_string())? {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Failure(message) => Err(message),
        }
    }
}
