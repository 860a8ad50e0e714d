//! Runs one call: find, prepare, decide, hooks, confirm, execute, hooks, bound.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Limits, StartPlace,
    bound::bounded,
    execute::{BoundedCall, closed_while_running},
    permit::Permit,
    start_order::StartOrder,
};
use crate::{
    confirm::{Confirmations, Refusal, SharedBus},
    error::{ErrorKind, ToolError},
    hooks::{Hooks, add_context},
    policy::{CurrentPolicy, PolicyEngine},
    registry::{Entry, Registry, Snapshot},
    session::Sessions,
    tool::{Commitment, Progress, ProgressSink, SideEffect, ToolContext, ToolOutput},
    workspace::walk::Visibility,
};

/// The session of calls that name none.
pub(super) const DEFAULT_SESSION: &str = "default";

/// A call as it was received. Nothing in it is checked yet.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool's name or alias.
    pub name: String,
    /// The raw input.
    pub input: Value,
}

/// Options of a call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// The id of the call. Without one, an id is generated.
    pub tool_use_id: Option<String>,
    /// The session to which it belongs.
    pub session_id: Option<String>,
    /// The id of the registration to call, even if another tool of the same name has replaced it.
    pub registration: Option<u64>,
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// Takes the progress of the call.
    pub progress: ProgressSink,
}

/// The tool that a call is for, and how the call named it.
pub(super) struct Called<'a> {
    /// The registered tools when the call was received.
    pub(super) tools: &'a Arc<Snapshot>,
    pub(super) name: &'a str,
    pub(super) registration: Option<u64>,
    pub(super) entry: &'a Entry,
}

/// The stages that calls pass through, and their shared state.
pub struct Pipeline {
    /// The registered tools.
    pub registry: Registry,
    /// The current policy.
    pub policy: CurrentPolicy,
    /// The host's hooks.
    pub hooks: Hooks,
    /// Asks people for confirmation.
    pub confirmations: Confirmations,
    /// The sessions of the registry.
    pub sessions: Sessions,
    /// The limits that hold for every call.
    pub limits: Limits,
    /// Cancelled when the registry is closed, which ends every running call.
    pub closed: CancellationToken,
    calls: AtomicU64,
    start_order: StartOrder,
}

impl Pipeline {
    /// A pipeline without tools.
    pub fn new(sessions: Sessions, limits: Limits, bus: SharedBus, policy: PolicyEngine) -> Self {
        let timeout = Duration::from_millis(u64::from(limits.confirmation_timeout_ms));
        Self {
            confirmations: Confirmations::new(bus, timeout),
            registry: Registry::default(),
            policy: CurrentPolicy::new(policy),
            hooks: Hooks::default(),
            sessions,
            limits,
            closed: CancellationToken::new(),
            calls: AtomicU64::new(0),
            start_order: StartOrder::default(),
        }
    }

    /// Takes the next place in the start order for a call that changes files; none for other calls. Callers
    /// that run calls on several threads take it on the thread on which the calls arrive.
    pub fn place(&self, name: &str) -> Option<StartPlace> {
        let tools = self.registry.snapshot();
        let entry = tools.find_called(name)?;
        (entry.tool.spec().side_effect == SideEffect::Mutating).then(|| self.start_order.take())
    }

    /// Runs one call. A failure is a result too; that of a cancelled call is `Cancelled`.
    pub async fn call(&self, call: ToolCall, options: CallOptions) -> ToolOutput {
        let output = match self.checked_call(call, options).await {
            Ok(output) => output,
            Err(Refusal { error, interrupt }) => {
                ToolOutput { interrupt, ..ToolOutput::failure(error) }
            }
        };
        bounded(output, self.limits.max_result_bytes)
    }

    async fn checked_call(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<ToolOutput, Refusal> {
        let tools = self.registry.snapshot();
        let registration = options.registration;
        let entry = self.find(&tools, &call.name, registration)?;
        let name = &entry.tool.spec().name;
        // When the call ends, for whatever reason, its work on other threads is cancelled.
        let mut cx = self.context(options);
        let _ended = cx.cancel.clone().drop_guard();
        if cx.cancel.is_cancelled() {
            return Err(ToolError::cancelled().into());
        }

        let called = Called { tools: &tools, name: &call.name, registration, entry };
        // When the registry is closed, pending confirmation requests are withdrawn and hooks aborted.
        let Permit { permitted, shown_file, context } = tokio::select! {
            biased;
            () = self.closed.cancelled() => return Err(closed_while_running().into()),
            permit = self.permit(&called, call.input, &cx) => permit?,
        };
        // By the current policy, which may have changed while a person was asked.
        cx.visibility = self.visibility(entry, &cx);
        cx.shown_file = shown_file;
        let watched_input = self.hooks.watch(name).then(|| permitted.prepared().input().clone());

        let started = Instant::now();
        if cx.progress.is_watched() {
            cx.progress.send(Progress::Start {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
            });
        }
        let within = BoundedCall::new(&cx, &self.closed, self.timeout(entry));
        let mut output = ToolOutput::from(within.run(permitted.into_prepared().run(&cx)).await);
        if cx.progress.is_watched() {
            cx.progress.send(Progress::End {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
                elapsed_ms: started.elapsed().as_secs_f64() * 1_000.0,
                is_error: output.error.is_some(),
            });
        }
        add_context(&mut output, context);
        Ok(match watched_input {
            Some(input) => {
                let mut watched = pin!(self.hooks.after(name, &input, &cx, output));
                tokio::select! {
                    biased;
                    output = &mut watched => output,
                    () = self.closed.cancelled() => {
                        // The call is done and keeps its result. The remaining hooks do not run.
                        cx.cancel.cancel();
                        watched.await
                    }
                }
            }
            None => output,
        })
    }

    /// The policy of the call's session.
    pub(super) fn engine(&self, cx: &ToolContext) -> Arc<PolicyEngine> {
        cx.session.grants.engine(self.policy.get())
    }

    /// Which files a search may see. Files that policy denies or would ask about are neither opened nor
    /// listed.
    fn visibility(&self, entry: &Entry, cx: &ToolContext) -> Visibility {
        let engine = self.engine(cx);
        if !engine.has_path_limits() {
            return Visibility::everything();
        }
        let spec = entry.tool.spec();
        let (tool, kind) = (spec.name.clone(), spec.kind);
        Visibility::judged_by(move |path, _subject| !engine.hides(&tool, &kind, path))
    }

    pub(super) fn timeout(&self, entry: &Entry) -> Duration {
        entry.tool.timeout().unwrap_or_else(|| self.limits.call_timeout())
    }

    pub(super) fn find<'a>(
        &self,
        tools: &'a Snapshot,
        name: &str,
        registration: Option<u64>,
    ) -> Result<&'a Entry, ToolError> {
        self.refuse_when_closed()?;
        registration
            .and_then(|id| tools.find_replaced(id))
            .or_else(|| tools.find_called(name))
            .ok_or_else(|| unknown_tool(tools, name))
    }

    /// Returns an error once the registry is closed.
    pub(crate) fn refuse_when_closed(&self) -> Result<(), ToolError> {
        if self.closed.is_cancelled() {
            let message = "the registry is closed; create a new one";
            return Err(ToolError::new(ErrorKind::RegistryClosed, message));
        }
        Ok(())
    }

    pub(super) fn context(&self, options: CallOptions) -> ToolContext {
        let tool_use_id = options
            .tool_use_id
            .unwrap_or_else(|| format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1));
        ToolContext {
            tool_use_id: tool_use_id.into(),
            session: self
                .sessions
                .get_or_start(options.session_id.as_deref().unwrap_or(DEFAULT_SESSION)),
            cancel: options.cancel.child_token(),
            commitment: Commitment::default(),
            progress: options.progress,
            max_result_bytes: self.limits.max_result_bytes,
            visibility: Visibility::everything(),
            shown_file: None,
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
