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
use toolwright_base::{ErrorKind, SHOWN_NAME, SideEffect, ToolError, shortened};
use toolwright_core::{
    CommandSandbox, Commitment, DEFAULT_SESSION, Entry, Handlers, Progress, ProgressSink, Registry,
    Sessions, Snapshot, ToolContext, ToolOutput,
};
use toolwright_files::Visibility;
use toolwright_policy::{CurrentPolicy, PolicyEngine};
use toolwright_sandbox::SandboxPlans;

use super::{
    Arrival, Limits, RememberGrants,
    bound::bounded,
    call_records::{CallRecords, RecordedCall},
    child_sessions::ChildSessions,
    execute::{BoundedCall, closed_while_running},
    permit::Permit,
    running_calls::RunningCalls,
    start_order::StartOrder,
};
use crate::{
    confirm::{Confirmations, Refusal, SharedBus},
    hooks::{Hooks, add_context},
};

/// A call as it was received, not checked yet.
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
    /// The session it belongs to.
    pub session_id: Option<String>,
    /// The bus for confirmation requests about this call, if it is not the registry's bus.
    pub bus: Option<SharedBus>,
    /// The registration to call, in case another tool of the same name has replaced it.
    pub registration: Option<u64>,
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// Receives the progress of the call.
    pub progress: ProgressSink,
}

/// The tool of a call, and how the call named it.
pub(super) struct Called<'a> {
    /// The tools that were registered when the call was received.
    pub(super) tools: &'a Arc<Snapshot>,
    pub(super) name: &'a str,
    pub(super) registration: Option<u64>,
    pub(super) entry: &'a Entry,
    /// The bus that came with the call.
    pub(super) bus: Option<SharedBus>,
    /// The record of the call, if there is a watcher.
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
    /// Asks for confirmations.
    pub confirmations: Confirmations,
    /// The sessions of the registry.
    pub sessions: Arc<Sessions>,
    /// The limits for every call.
    pub limits: Limits,
    /// Records of calls, if there is a watcher.
    pub records: CallRecords,
    /// How long an "always allow" answer stays valid.
    pub remember_grants: RememberGrants,
    /// Set once the stored grants apply, or could not be read.
    pub(super) grants_loaded: OnceCell<()>,
    /// Cancelled when the registry is closed, which ends every running call.
    pub(super) closed: CancellationToken,
    /// The sessions of agents.
    pub(super) children: Arc<ChildSessions>,
    /// State shared by the sandbox plans of commands.
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

    /// Registers a call that has been received. Calls that change files start in the order of their
    /// arrivals, so that changes to one file happen in the order they were requested.
    pub fn arrival(&self, name: &str) -> Arrival {
        let tools = self.registry.snapshot();
        let changes_files = |it: &Entry| it.tool.spec().side_effect == SideEffect::Mutating;
        match tools.find_called(name) {
            Some(entry) if changes_files(entry) => self.start_order.arrival(),
            _ => Arrival::of_any_order(),
        }
    }

    /// Runs one call. It counts as received now, not when the future is first polled. Every failure is
    /// returned as an output. A cancelled call returns `Cancelled`.
    pub fn call(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> impl Future<Output = ToolOutput> + Send {
        let arrival = self.arrival(&call.name);
        self.call_arrived(arrival, call, options)
    }

    /// Runs one call that was received earlier.
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

    /// Runs the call while its session accepts calls. The session of an agent ends with the agent.
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
        let output = tokio::select! {
            biased;
            output = &mut running => output?,
            () = closing.cancelled() => {
                cancel.cancel();
                running.await?
            }
        };
        // Closing the session also stops its commands, and this task may first notice that the command
        // has failed.
        match &output.error {
            Some(error) if error.kind == ErrorKind::ShellExecution && closing.is_cancelled() => {
                Err(ToolError::cancelled().into())
            }
            _ => Ok(output),
        }
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
        // When the call ends, for any reason, its work on other threads is cancelled.
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
        // Closing the registry drops the pending step: a confirmation request is withdrawn, a hook's
        // signal is aborted.
        let Permit { permitted, shown_file, is_confirmed, granted, context } = tokio::select! {
            biased;
            () = self.closed.cancelled() => return Err(closed_while_running().into()),
            permit = permit => match permit {
                // A cancelled call is reported as cancelled, whatever a hook or person decided
                // meanwhile.
                Err(_) if cx.cancel.is_cancelled() => return Err(ToolError::cancelled().into()),
                permit => permit?,
            },
        };
        // Uses the current policy, which may have changed while a person was asked.
        cx.visibility = self.visibility(entry, &cx);
        cx.sandbox = self.sandbox(entry, permitted.prepared(), is_confirmed, &cx);
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
                        // The call is done, so its result is returned. The remaining hooks do not run.
                        cx.cancel.cancel();
                        return Ok(watched.await);
                    }
                };
                // A call that is cancelled while a hook reads its output is reported as cancelled. If
                // it has changed files, its output is returned, because a change is always reported.
                if cx.cancel.is_cancelled() && cx.commitment.withdraw() {
                    return Err(ToolError::cancelled().into());
                }
                output
            }
            None => output,
        };
        if let Some(mail) = cx.session.shared.mail.started() {
            mail.add_unread(&mut output, &cx);
        }
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
        self.sessions.shared().mail.close();
        self.sessions.close_connections();
    }

    /// Waits until no call runs. After [`Self::close`] this takes only a moment.
    pub async fn calls_ended(&self) {
        self.running.ended().await;
    }

    /// A token that is cancelled when the registry is closed. Cancelling it does not close the
    /// registry.
    pub fn closing(&self) -> CancellationToken {
        self.closed.child_token()
    }

    /// True once the registry is closed.
    pub fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Waits until the registry is closed, without keeping the pipeline alive.
    pub fn until_closed(&self) -> impl Future<Output = ()> + Send + Sync + 'static {
        self.closed.clone().cancelled_owned()
    }

    /// Closes without waiting: calls, commands and the store end in the background.
    pub fn abandon(&self) {
        self.close();
        self.sessions.tasks().abandon();
        self.sessions.store().release();
        self.sessions.shared().stored.events.clear();
    }

    /// Returns an error once the registry is closed.
    pub fn refuse_when_closed(&self) -> Result<(), ToolError> {
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

    /// The context of a call that policy has not judged yet.
    pub(super) fn context_of(&self, entry: &Entry, options: CallOptions) -> ToolContext {
        let cx = self.context(options);
        let sandbox = self.sandbox_before_judgement(entry, &cx);
        ToolContext { visibility: self.visibility_before_judgement(entry, &cx), sandbox, ..cx }
    }

    /// An id for a call without one.
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
    let shown = shortened(name, SHOWN_NAME);
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
