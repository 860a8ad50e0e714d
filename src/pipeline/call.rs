//! One call: find, prepare, decide, hooks, confirm, execute, hooks, bound.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Limits, bound::bounded, execute::Within, panic_fence::fenced};
use crate::{
    confirm::{Confirmations, Permitted},
    error::{ErrorKind, ToolError},
    hooks::{Before, Hooks},
    policy::{Decision, Policy},
    registry::{Entry, Registry, Snapshot},
    session::Sessions,
    tool::{Prepared, Progress, ProgressSink, ToolContext, ToolOutput},
};

/// How often hooks may rewrite one input before the call is given up.
const MAX_REWRITES: usize = 3;

/// A call as it comes in: nothing in it is trusted yet.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool's name or alias.
    pub name: String,
    /// Its raw input.
    pub input: Value,
}

/// What comes with a call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// The id of the call; one is made where none is given.
    pub tool_use_id: Option<String>,
    /// The conversation it belongs to.
    pub session_id: Option<String>,
    /// The registration that is meant, where a tool of the same name may have replaced it.
    pub registration: Option<u64>,
    /// Ends the call early.
    pub cancel: CancellationToken,
    /// Hears of the running call.
    pub progress: ProgressSink,
}

/// A prepared call and what policy says of it.
pub type Judged = (Box<dyn Prepared>, Decision);

/// Everything a call passes through.
pub struct Pipeline {
    /// The tools.
    pub registry: Registry,
    /// The judge.
    pub policy: Policy,
    /// The host's hooks.
    pub hooks: Hooks,
    /// The people who are asked.
    pub confirmations: Confirmations,
    /// The conversations.
    pub sessions: Sessions,
    /// The bounds.
    pub limits: Limits,
    /// Cancelled when the registry is closed, and every running call with it.
    pub closed: CancellationToken,
    calls: AtomicU64,
}

impl Pipeline {
    /// A pipeline without tools.
    pub fn new(sessions: Sessions, limits: Limits) -> Self {
        Self {
            registry: Registry::default(),
            policy: Policy,
            hooks: Hooks::default(),
            confirmations: Confirmations,
            sessions,
            limits,
            closed: CancellationToken::new(),
            calls: AtomicU64::new(0),
        }
    }

    /// Runs one call. Every failure is an answer; a cancelled call answers with `Cancelled`.
    pub async fn call(&self, call: ToolCall, options: CallOptions) -> ToolOutput {
        let output = self.checked_call(call, options).await.unwrap_or_else(ToolOutput::failure);
        bounded(output, self.limits.max_result_bytes)
    }

    async fn checked_call(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<ToolOutput, ToolError> {
        let tools = self.registry.snapshot();
        let entry = self.find(&tools, &call.name, options.registration)?;
        let name = &entry.tool.spec().name;
        // Ending the call, however it ends, ends the work it started on other threads.
        let cx = self.context(options);
        let _ended = cx.cancel.clone().drop_guard();
        if cx.cancel.is_cancelled() {
            return Err(ToolError::cancelled());
        }

        let permitted = self.permit(&tools, entry, call.input, &cx).await?;

        let started = Instant::now();
        if cx.progress.is_watched() {
            cx.progress.send(Progress::Start {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
            });
        }
        let within =
            Within { cancel: &cx.cancel, closed: &self.closed, timeout: self.timeout(entry) };
        let output = ToolOutput::from(within.run(permitted.into_prepared().run(&cx)).await);
        if cx.progress.is_watched() {
            cx.progress.send(Progress::End {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
                elapsed_ms: started.elapsed().as_secs_f64() * 1_000.0,
                is_error: output.error.is_some(),
            });
        }
        Ok(self.hooks.after(name, &cx, output).await)
    }

    /// From raw input to a call that may run: whatever a hook rewrites is prepared and judged again.
    async fn permit(
        &self,
        tools: &Snapshot,
        entry: &Entry,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Permitted, ToolError> {
        let spec = entry.tool.spec();
        let (mut prepared, mut decision) = self.judge(tools, entry, input, cx).await?;
        for _ in 0..MAX_REWRITES {
            match self.hooks.before(&spec.name, prepared.input(), cx).await {
                Before::Proceed => return self.confirmations.settle(decision, prepared).await,
                Before::Block(reason) => {
                    return Err(ToolError::new(ErrorKind::HookBlocked, reason));
                }
                Before::Rewrite(input) if input == *prepared.input() => {
                    return self.confirmations.settle(decision, prepared).await;
                }
                Before::Rewrite(input) => {
                    (prepared, decision) = self.judge(tools, entry, input, cx).await?;
                }
            }
        }
        Err(ToolError::new(
            ErrorKind::HookBlocked,
            format!(
                "hooks rewrote the input of `{}` {MAX_REWRITES} times and never agreed on it",
                spec.name
            ),
        ))
    }

    /// Prepares and decides; a denied call ends here, before any hook sees it.
    async fn judge(
        &self,
        tools: &Snapshot,
        entry: &Entry,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Judged, ToolError> {
        let tool = Arc::clone(&entry.tool);
        let prepared = if tool.prepares_slowly() {
            let within =
                Within { cancel: &cx.cancel, closed: &self.closed, timeout: self.timeout(entry) };
            let aside = cx.clone();
            within.run(cx.blocking(move |_| tool.prepare(input, &aside))).await?
        } else {
            fenced(|| tool.prepare(input, cx))?
        };
        self.decide(tools, entry, prepared)
    }

    /// Prepares a call without running it, for a host that wants to show it first. A tool that prepares
    /// slowly is not asked: whoever wants to show it waits for this.
    pub fn preview(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<Option<Judged>, ToolError> {
        let tools = self.registry.snapshot();
        let entry = self.find(&tools, &call.name, None)?;
        if entry.tool.prepares_slowly() {
            return Ok(None);
        }
        let cx = self.context(options);
        let prepared = fenced(|| Arc::clone(&entry.tool).prepare(call.input, &cx))?;
        self.decide(&tools, entry, prepared).map(Some)
    }

    fn decide(
        &self,
        tools: &Snapshot,
        entry: &Entry,
        prepared: Box<dyn Prepared>,
    ) -> Result<Judged, ToolError> {
        match self.policy.decide(tools, entry.tool.spec(), prepared.as_ref()) {
            Decision::Deny(error) => Err(error),
            decision @ (Decision::Allow | Decision::Ask { .. }) => Ok((prepared, decision)),
        }
    }

    fn timeout(&self, entry: &Entry) -> Duration {
        entry.tool.timeout().unwrap_or_else(|| self.limits.call_timeout())
    }

    fn find<'a>(
        &self,
        tools: &'a Snapshot,
        name: &str,
        registration: Option<u64>,
    ) -> Result<&'a Entry, ToolError> {
        if self.closed.is_cancelled() {
            return Err(ToolError::new(
                ErrorKind::RegistryClosed,
                "the registry is closed; create a new one",
            ));
        }
        registration
            .and_then(|id| tools.find_replaced(id))
            .or_else(|| tools.find_called(name))
            .ok_or_else(|| unknown_tool(tools, name))
    }

    fn context(&self, options: CallOptions) -> ToolContext {
        let tool_use_id = options
            .tool_use_id
            .unwrap_or_else(|| format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1));
        ToolContext {
            tool_use_id: tool_use_id.into(),
            session: self.sessions.get_or_start(options.session_id.as_deref().unwrap_or("default")),
            cancel: options.cancel.child_token(),
            progress: options.progress,
        }
    }
}

fn unknown_tool(tools: &Snapshot, name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let mut names: Vec<&str> =
        tools.enabled().map(|entry| entry.tool.spec().name.as_str()).collect();
    names.sort_by_key(|it| strsim::osa_distance(&it.to_lowercase(), &shown.to_lowercase()));
    let hint = match names.as_slice() {
        [] => "no tool is registered".to_owned(),
        names => format!(
            "the closest of {} tools: {}",
            names.len(),
            names.iter().take(3).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    ToolError::new(ErrorKind::UnknownTool, format!("no tool is named `{shown}`; {hint}"))
}
