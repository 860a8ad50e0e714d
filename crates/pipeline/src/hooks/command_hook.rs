//! A hook that is a shell command. It receives the event on standard input and answers on standard
//! output.
//!
//! Exit code 0 means that standard output is the answer, as JSON or empty. Exit code 2 blocks the call,
//! with standard error as the reason. Any other ending is a failure. The command belongs to the host
//! and runs in the host's environment. Like every command, it is killed together with everything it
//! started when it times out or the host exits.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use toolwright_core::ToolContext;
use toolwright_process::{
    CommandEnding, CommandRole, CommandSpec, RunMode, StopReason, Task, signal_name,
};

use super::HookRunner;

/// How many bytes of a hook's output are read.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// A hook that runs a shell command of the host.
pub struct CommandHook {
    /// The command line for the system's shell.
    pub command: String,
}

#[async_trait]
impl HookRunner for CommandHook {
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String> {
        let command = &self.command;
        let sandbox = cx.sandbox.of_hook(&cx.cancel).await;
        let sandbox = sandbox.map_err(|err| format!("`{command}` cannot be run: {err}"))?;
        let spec = CommandSpec {
            role: CommandRole::Helper {
                input: event.to_string().into_bytes(),
                kept_bytes: MAX_OUTPUT_BYTES,
            },
            command: command.clone(),
            description: None,
            cwd: cx.session.shared.files.roots.first().to_owned(),
            session_id: cx.session.id.clone(),
            run_mode: RunMode::Foreground,
            is_streamed: false,
            sandbox: sandbox.plan,
            proxy: sandbox.proxy,
        };
        let started = cx.session.shared.tasks.launch(spec).await;
        let hook = RunningHook(started.map_err(|err| format!("`{command}` cannot be run: {err}"))?);
        let ending = hook.0.ended().await;
        let errors = String::from_utf8_lossy(&hook.0.errors().0).into_owned();
        if ending.stopped_for.is_some() {
            // Its output may be incomplete, so it is not used.
            return Err(format!("`{command}` was stopped"));
        }
        match (&ending.failure, ending.exit_code) {
            (Some(cause), _) => Err(format!("`{command}` cannot be run: {cause}")),
            (None, Some(0)) => {
                answer(&hook.0, &ending).map_err(|cause| format!("`{command}` {cause}"))
            }
            (None, Some(2)) => Ok(json!({ "decision": "block", "reason": errors.trim() })),
            (None, code) => {
                let how = match (code, ending.signal) {
                    (Some(code), _) => format!("ended with exit status: {code}"),
                    (None, Some(signal)) => format!("was killed by {}", signal_name(signal)),
                    (None, None) => "ended, and its exit status is unknown".to_owned(),
                };
                Err(format!("`{command}` {how}: {}", errors.trim()))
            }
        }
    }
}

/// A running hook. Dropping it kills the hook if it still runs, because it timed out or its call ended.
struct RunningHook(Arc<Task>);

impl Drop for RunningHook {
    fn drop(&mut self) {
        self.0.stop(StopReason::Abandoned, Duration::ZERO);
    }
}

/// The answer that a hook printed. Empty output counts as an answer only if no more output could
/// follow.
fn answer(hook: &Task, ending: &CommandEnding) -> Result<Value, String> {
    let (bytes, _) = hook.ends();
    if hook.total() > bytes.len() as u64 {
        return Err(format!(
            "printed more than {MAX_OUTPUT_BYTES} bytes, so its answer is not known"
        ));
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    if text.is_empty() && !ending.held_output {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|err| {
        if ending.held_output {
            "left a process running that keeps its output open, so its answer is not known; \
             redirect the output of that process"
                .to_owned()
        } else {
            format!("printed something that is not JSON: {err}")
        }
    })
}
