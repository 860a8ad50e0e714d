//! Runs one call: find, prepare, decide, hooks, confirm, execute, hooks, bound.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::{
    Arrival, Limits, RememberGrants,
    bound::bounded,
    call_records::{CallRecords, RecordedCall},
    child_sessions::ChildSessions,
    execute::{BoundedCall, closed_while_running},
    permit::Permit,
    running_calls::RunningCalls,
    sandbox_plan::SandboxPlans,
    start_order::StartOrder,
};
use crate::{
    confirm::{Confirmations, Refusal, SharedBus},
    error::{ErrorKind, ToolError},
    hooks::{Hooks, add_context},
    policy::{CurrentPolicy, PolicyEngine},
    registry::{Entry, Registry, Snapshot},
    session::{DEFAULT_SESSION, Sessions},
    tool::{
        CommandSandbox, Commitment, Handlers, Progress, ProgressSink, SideEffect, ToolContext,
        ToolOutput,
    },
    tools::add_unread_mail,
    workspace::walk::Visibility,
};

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
    /// Where people are asked about this call, where that is not the registry's own bus.
    pub bus: Option<SharedBus>,
    /// The registration that is meant, where a tool of the same name may have replaced it.
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
    /// The bus that came with the call.
    pub(super) bus: Option<SharedBus>,
    /// The record of the call, if somebody watches.
    pub(super) record: Option<&'a RecordedCall<'a>>,
}

/// The stages that calls pass through, and their shared state.
pub struct Pipeline {
    /// The registered tools.
    pub registry: Registry,
    /// The current policy.
    pub policy: Arc<CurrentPolicy>,
    /// The host's functions that built-in tools call.
    pub handlers: Arc<Handlers>,
    /// The host's hooks.
    pub hooks: Hooks,
    /// Asks people for confirmation.
    pub confirmations: Confirmations,
    /// The sessions of the registry.
    pub sessions: Arc<Sessions>,
    /// The limits that hold for every call.
    pub limits: Limits,
    /// What is told of calls, if somebody watches.
    pub records: CallRecords,
    /// How long an "always allow" holds.
    pub remember_grants: RememberGrants,
    /// Set when the grants of the store apply, or could not be read.
    pub(super) grants_loaded: OnceCell<()>,
    /// Cancelled when the registry is closed, which ends every running call.
    pub(super) closed: CancellationToken,
    /// The sessions of agents.
    pub(super) children: Arc<ChildSessions>,
    /// What the sandboxes of commands are made with.
    pub(super) sandbox_plans: Arc<SandboxPlans>,
    calls: AtomicU64,
    running: RunningCalls,
    start_order: StartOrder,
}

impl Pipeline {
    /// A pipeline without tools.
    pub fn new(sessions: Sessions, limits: Limits, bus: SharedBus, policy: PolicyEngine) -> Self {
        let timeout = Duration::from_millis(u64::from(limits.confirmation_timeout_ms));
        let (policy, sessions) = (Arc::new(CurrentPolicy::new(policy)), Arc::new(sessions));
        let children = ChildSessions::new(Arc::clone(&policy), Arc::clone(&sessions));
        Self {
            confirmations: Confirmations::new(bus, timeout),
            registry: Registry::default(),
            policy,
            handlers: Arc::default(),
            hooks: Hooks::default(),
            sessions,
            limits,
            records: CallRecords::default(),
            remember_grants: RememberGrants::default(),
            grants_loaded: OnceCell::new(),
            closed: CancellationToken::new(),
            children: Arc::new(children),
            sandbox_plans: Arc::default(),
            calls: AtomicU64::new(0),
            running: RunningCalls::default(),
            start_order: StartOrder::default(),
        }
    }

    /// Takes note of a call that has come in. Calls that change files begin in the order of their
    /// arrivals, so that changes of one file happen in the order they were asked for.
    pub fn arrival(&self, name: &str) -> Arrival {
        let tools = self.registry.snapshot();
        let changes_files = |it: &Entry| it.tool.spec().side_effect == SideEffect::Mutating;
        match tools.find_called(name) {
            Some(entry) if changes_files(entry) => self.start_order.arrival(),
            _ => Arrival::of_any_order(),
        }
    }

    /// Runs one call, which comes in now and not when it is first awaited. Every failure is an answer; a
    /// cancelled call answers with `Cancelled`.
    pub fn call(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> impl Future<Output = ToolOutput> + Send {
        let arrival = self.arrival(&call.name);
        self.call_arrived(arrival, call, options)
    }

    /// Runs one call that has come in before.
    pub async fn call_arrived(
        &self,
        arrival: Arrival,
        call: ToolCall,
        options: CallOptions,
    ) -> ToolOutput {
        arrival.run(self.answered_call(call, options)).await
    }

    async fn answered_call(&self, call: ToolCall, mut options: CallOptions) -> ToolOutput {
        let _running = self.running.begin();
        let record = self.recorded(&call, &mut options);
        let output = match self.call_in_session(call, options, record.as_ref()).await {
            Ok(output) => output,
            Err(Refusal { error, interrupt, .. }) => {
                ToolOutput { interrupt, ..ToolOutput::failure(error) }
            }
        };
        if let Some(record) = record {
            record.end(&output);
        }
        bounded(output, self.limits.max_result_bytes)
    }

    /// Runs the call for as long as its session takes calls. That of an agent ends with the agent.
    async fn call_in_session(
        &self,
        call: ToolCall,
        mut options: CallOptions,
        record: Option<&RecordedCall<'_>>,
    ) -> Result<ToolOutput, Refusal> {
        let session_id = options.session_id.as_deref().unwrap_or(DEFAULT_SESSION);
        let Some(closing) = self.children.closing(session_id)? else {
            return self.checked_call(call, options, record).await;
        };
        options.cancel = options.cancel.child_token();
        let cancel = options.cancel.clone();
        let mut running = Box::pin(self.checked_call(call, options, record));
        tokio::select! {
            biased;
            output = &mut running => return output,
            () = closing.cancelled() => cancel.cancel(),
        }
        running.await
    }

    async fn checked_call(
        &self,
        call: ToolCall,
        options: CallOptions,
        record: Option<&RecordedCall<'_>>,
    ) -> Result<ToolOutput, Refusal> {
        let tools = self.registry.snapshot();
        let (registration, bus) = (options.registration, options.bus.clone());
        let entry = self.find(&tools, &call.name, registration)?;
        let name = &entry.tool.spec().name;
        // When the call ends, for whatever reason, its work on other threads is cancelled.
        let mut cx = self.context_of(entry, options);
        let _ended = cx.cancel.clone().drop_guard();
        if cx.cancel.is_cancelled() {
            return Err(ToolError::cancelled().into());
        }

        let called = Called { tools: &tools, name: &call.name, registration, entry, bus, record };
        let permit = async {
            if self.remember_grants != RememberGrants::Session {
                Box::pin(self.grants_loaded(&cx)).await;
            }
            self.permit(&called, call.input, &cx).await
        };
        // Closing drops whatever is waited for: a request is withdrawn, a hook's signal aborted.
        let Permit { permitted, shown_file, is_agreed, granted, context } = tokio::select! {
            biased;
            () = self.closed.cancelled() => return Err(closed_while_running().into()),
            permit = permit => match permit {
                // Whoever ended the call is told that, and not what a hook or a person made of it.
                Err(_) if cx.cancel.is_cancelled() => return Err(ToolError::cancelled().into()),
                permit => permit?,
            },
        };
        // By the current policy, which may have changed while a person was asked.
        cx.visibility = self.visibility(entry, &cx);
        cx.sandbox = self.sandbox(entry, permitted.prepared(), is_agreed, &cx);
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
        let work = within.run(permitted.into_prepared().run(&cx));
        let ran = if granted.is_empty() {
            work.await
        } else {
            tokio::join!(work, Box::pin(self.keep_grants(granted, &cx))).0
        };
        let mut output = ToolOutput::from(ran);
        if cx.progress.is_watched() {
            cx.progress.send(Progress::End {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
                elapsed_ms: started.elapsed().as_secs_f64() * 1_000.0,
                is_error: output.error.is_some(),
            });
        }
        add_context(&mut output, context);
        let mut output = match watched_input {
            Some(input) => {
                let mut watched = pin!(self.hooks.after(name, &input, &cx, output));
                let output = tokio::select! {
                    biased;
                    output = &mut watched => output,
                    () = self.closed.cancelled() => {
                        // The call is done and keeps its result. The remaining hooks do not run.
                        cx.cancel.cancel();
                        return Ok(watched.await);
                    }
                };
                // Whoever ends the call while a hook looks at its answer does not get the answer, unless
                // the call has changed files: that is always told.
                if cx.cancel.is_cancelled() && cx.commitment.withdraw() {
                    return Err(ToolError::cancelled().into());
                }
                output
            }
            None => output,
        };
        add_unread_mail(&mut output, &cx);
        Ok(output)
    }

    /// The policy of the call's session.
    pub(super) fn engine(&self, cx: &ToolContext) -> Arc<PolicyEngine> {
        self.policy.of_session(&cx.session.id)
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

    /// Ends every running call, and refuses later ones.
    pub fn close(&self) {
        self.closed.cancel();
        self.sessions.teams().close();
        self.sessions.close_connections();
    }

    /// Waits until no call runs. After [`Self::close`] that takes a moment.
    pub async fn calls_ended(&self) {
        self.running.ended().await;
    }

    /// Is cancelled when the registry is closed, but cannot close it.
    pub fn closing(&self) -> CancellationToken {
        self.closed.child_token()
    }

    /// True once the registry is closed.
    pub fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Waits until the registry is closed, without keeping it.
    pub fn until_closed(&self) -> impl Future<Output = ()> + Send + Sync + 'static {
        self.closed.clone().cancelled_owned()
    }

    /// Closes without waiting for anything: calls, commands and the store end by themselves.
    pub fn abandon(&self) {
        self.close();
        self.sessions.tasks().abandon();
        self.sessions.store().release();
        self.sessions.shared().events.clear();
    }

    /// Returns an error once the registry is closed.
    pub(crate) fn refuse_when_closed(&self) -> Result<(), ToolError> {
        if self.closed.is_cancelled() {
            let message = "the registry is closed; create a new one";
            return Err(ToolError::new(ErrorKind::RegistryClosed, message));
        }
        Ok(())
    }

    /// Returns an error for the session of an agent that has ended.
    pub fn check_session(&self, session_id: &str) -> Result<(), ToolError> {
        self.children.closing(session_id).map(|_| ())
    }

    /// The surroundings of a call that policy has not judged yet.
    pub(super) fn context_of(&self, entry: &Entry, options: CallOptions) -> ToolContext {
        let cx = self.context(options);
        let sandbox = self.sandbox_before_judgement(&cx);
        ToolContext { visibility: self.visibility_before_judgement(entry, &cx), sandbox, ..cx }
    }

    /// An id for a call that came without one.
    pub(super) fn next_call_id(&self) -> String {
        format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(super) fn context(&self, options: CallOptions) -> ToolContext {
        let tool_use_id = options.tool_use_id.unwrap_or_else(|| self.next_call_id());
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
            sandbox: CommandSandbox::none(),
            shown_file: None,
            question_timeout: self.limits.question_timeout(),
            handlers: Arc::clone(&self.handlers),
            sessions: Arc::<ChildSessions>::clone(&self.children),
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
