//! Hooks: code of the host that is asked before a call and told of its result afterwards.
//!
//! A hook is a function of the host or a shell command. Before a call, a hook that fails, gives an invalid
//! answer or takes too long blocks the call. After a call it can only add to the result.

mod command_hook;
mod hearing;
mod hook_answer;
mod tool_matcher;

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

pub use command_hook::CommandHook;
pub(crate) use hearing::{Hearing, HearingStep};
pub(crate) use hook_answer::HookVerdict;
pub use tool_matcher::ToolMatcher;

use crate::tool::{Content, ToolContext, ToolOutput};
use hook_answer::HookAnswer;

/// When a hook is asked.
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

    /// The name of the event in configurations and in what hooks are sent.
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
    /// Gets the event as JSON and returns the answer as JSON, or an error message.
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String>;
}

/// A hook, and when it is asked.
pub struct Hook {
    /// The event at which it is asked.
    pub event: HookEvent,
    /// The tools whose calls it is asked about.
    pub matcher: ToolMatcher,
    /// The time after which it has failed.
    pub timeout: Duration,
    /// What runs it.
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

    /// The hooks that are asked before calls of this tool.
    pub(crate) fn hearing<'a>(&'a self, tool: &'a str) -> Hearing<'a> {
        Hearing::new(tool, self.of(HookEvent::PreToolUse, tool))
    }

    /// Shows the result to each hook, which may add to it or hide it from the model.
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

    /// True when a hook wants to see the results of a tool.
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
        // Hook authors of Claude Code know it as always there; a registry keeps no transcript.
        "transcript_path": "",
        "cwd": cx.session.shared.roots.first(),
        "tool_name": tool,
        "tool_use_id": &*cx.tool_use_id,
        "tool_input": input,
    })
}

fn apply(answer: HookAnswer, output: &mut ToolOutput) {
    if answer.suppress_output {
        output.content = vec![Content::text("[a hook keeps this output from you]")];
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

/// Adds the context that hooks give to the model.
pub(crate) fn add_context(output: &mut ToolOutput, context: impl IntoIterator<Item = String>) {
    output.content.extend(context.into_iter().filter(|it| !it.is_empty()).map(Content::text));
}
