//! Hooks: code of the host that runs before and after calls.
//!
//! A hook is a function of the host or a shell command. Before a call, a hook that fails, gives an
//! invalid answer or takes too long blocks the call. After a call, a hook receives the result and can
//! add to it or hide it.

mod command_hook;
mod hook_answer;
mod pre_tool_hooks;
mod tool_matcher;

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolwright_core::{Content, ToolContext, ToolOutput};

use hook_answer::HookAnswer;

pub use command_hook::CommandHook;
pub(crate) use hook_answer::HookVerdict;
pub(crate) use pre_tool_hooks::{PreToolHooks, PreToolStep};
pub use tool_matcher::ToolMatcher;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a call runs, if policy did not deny it.
    PreToolUse,
    /// After a call succeeded.
    PostToolUse,
    /// After a call failed.
    PostToolUseFailure,
}

impl HookEvent {
    /// Every event.
    pub const ALL: [Self; 3] = [Self::PreToolUse, Self::PostToolUse, Self::PostToolUseFailure];

    /// The name of the event in configurations and in the JSON for hooks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
        }
    }
}

/// Runs a hook: calls a function of the host, or starts a command.
#[async_trait]
pub trait HookRunner: Send + Sync {
    /// Receives the event as JSON and returns the answer as JSON, or an error message.
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String>;
}

/// A hook, and when it runs.
pub struct Hook {
    /// The event at which it runs.
    pub event: HookEvent,
    /// The tools whose calls it runs for.
    pub matcher: ToolMatcher,
    /// The time after which it counts as failed.
    pub timeout: Duration,
    /// Runs the hook.
    pub runner: Box<dyn HookRunner>,
}

/// The hooks of one registry, in order.
#[derive(Default)]
pub struct Hooks(Vec<Hook>);

impl Hooks {
    /// Adds a hook at the end.
    pub fn push(&mut self, hook: Hook) {
        self.0.push(hook);
    }

    fn of<'a>(&'a self, event: HookEvent, tool: &'a str) -> impl Iterator<Item = &'a Hook> {
        self.0.iter().filter(move |it| it.event == event && it.matcher.matches(tool))
    }

    /// The hooks that run before calls of this tool.
    pub(crate) fn pre_tool_hooks<'a>(&'a self, tool: &'a str) -> PreToolHooks<'a> {
        PreToolHooks::new(tool, self.of(HookEvent::PreToolUse, tool))
    }

    /// Passes the result to each hook, which may add to it or hide it from the model.
    pub(crate) async fn after(
        &self,
        tool: &str,
        input: &Value,
        cx: &ToolContext,
        mut output: ToolOutput,
    ) -> ToolOutput {
        let event = match output.error {
            None => HookEvent::PostToolUse,
            Some(_) => HookEvent::PostToolUseFailure,
        };
        for hook in self.of(event, tool) {
            let mut event = event_json(hook.event, tool, input, cx);
            if let Value::Object(event) = &mut event {
                event.insert("tool_response".to_owned(), json!(output.result_view()));
                if let Some(error) = &output.error {
                    event.insert("error".to_owned(), json!(error.message));
                    event.insert("error_type".to_owned(), json!(error.kind));
                }
            }
            match hook.ask(&event, cx).await {
                Ok(answer) => apply(answer, &mut output),
                Err(cause) => {
                    let remark = format!("a {} hook failed: {cause}", hook.event.as_str());
                    output.meta.insert("toolwright/hookFailure".to_owned(), json!(remark));
                }
            }
        }
        output
    }

    /// True when a hook runs before calls of a tool.
    pub(crate) fn run_before(&self, tool: &str) -> bool {
        self.of(HookEvent::PreToolUse, tool).next().is_some()
    }

    /// True when a hook receives the results of this tool.
    pub(crate) fn watch(&self, tool: &str) -> bool {
        self.0.iter().any(|it| it.event != HookEvent::PreToolUse && it.matcher.matches(tool))
    }
}

impl Hook {
    async fn ask(&self, event: &Value, cx: &ToolContext) -> Result<HookAnswer, String> {
        let answer = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err("the call was cancelled".to_owned()),
            answer = self.runner.run(event, cx) => answer?,
            () = tokio::time::sleep(self.timeout) => {
                return Err(format!("no answer within {} ms", self.timeout.as_millis()));
            }
        };
        HookAnswer::read(answer)
    }
}

fn event_json(event: HookEvent, tool: &str, input: &Value, cx: &ToolContext) -> Value {
    json!({
        "hook_event_name": event.as_str(),
        "session_id": cx.session.id,
        // Hooks for Claude Code expect this field. A registry keeps no transcript, so it is empty.
        "transcript_path": "",
        "cwd": cx.session.shared.files.roots.first(),
        "tool_name": tool,
        "tool_use_id": &*cx.tool_use_id,
        "tool_input": input,
    })
}

fn apply(answer: HookAnswer, output: &mut ToolOutput) {
    if answer.suppress_output {
        output.content = vec![Content::text("[a hook hides this output]")];
        output.structured = None;
        output.display = None;
    }
    if let HookVerdict::Block(reason) = answer.verdict {
        output.content.push(Content::text(format!("[a hook objects: {reason}]")));
    }
    add_context(output, answer.context);
    if let Some(reason) = answer.stop {
        output.interrupt = Some(reason);
    }
}

/// Adds context from hooks for the model.
pub(crate) fn add_context(output: &mut ToolOutput, context: impl IntoIterator<Item = String>) {
    output.content.extend(context.into_iter().filter(|it| !it.is_empty()).map(Content::text));
}
