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

use super::{
    Limits, Place, bound::bounded, execute::Within, panic_fence::fenced, start_order::StartOrder,
};
use crate::{
    confirm::{Confirmations, Permitted, Refusal, Settled, SharedBus},
    error::{ErrorKind, ToolError},
    hooks::{Hooks, Verdict, add_context},
    policy,
    policy::{CurrentPolicy, Decision, Origin, PolicyEngine, Question},
    registry::{Entry, Registry, Snapshot, ToolSource},
    session::Sessions,
    tool::{
        Access, Commitment, Prepared, Progress, ProgressSink, SideEffect, ToolContext, ToolOutput,
    },
    workspace::{real_place, walk::Visibility},
};

/// How often people may edit one input before the call is given up.
const MAX_EDITS: usize = 3;

/// Command lines of more bytes are judged off the async threads.
const LONG_LINE: usize = 2_048;

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

/// What a person wrote in place of an input.
struct Agreed {
    input: Value,
    /// True when it is to run without a question from then on.
    always: bool,
}

/// Everything a call passes through.
pub struct Pipeline {
    /// The tools.
    pub registry: Registry,
    /// The judge.
    pub policy: CurrentPolicy,
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

    /// Takes a place for a call that is about to be made, where the order of such calls matters: whoever
    /// makes calls on several threads asks before it leaves the thread they come from.
    pub fn place(&self, name: &str) -> Option<Place> {
        let tools = self.registry.snapshot();
        let entry = tools.find_called(name)?;
        (entry.tool.spec().side_effect == SideEffect::Mutating).then(|| self.start_order.take())
    }

    /// Runs one call. Every failure is an answer; a cancelled call answers with `Cancelled`.
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
        let entry = self.find(&tools, &call.name, options.registration)?;
        let name = &entry.tool.spec().name;
        // Ending the call, however it ends, ends the work it started on other threads.
        let mut cx = self.context(options);
        cx.visibility = self.visibility(name, &cx);
        let _ended = cx.cancel.clone().drop_guard();
        if cx.cancel.is_cancelled() {
            return Err(ToolError::cancelled().into());
        }

        let (permitted, context) = self.permit(&tools, entry, call.input, &cx).await?;
        let watched_input = self.hooks.watch(name).then(|| permitted.prepared().input().clone());

        let started = Instant::now();
        if cx.progress.is_watched() {
            cx.progress.send(Progress::Start {
                tool: name.clone(),
                tool_use_id: cx.tool_use_id.to_string(),
            });
        }
        let within = Within::new(&cx, &self.closed, self.timeout(entry));
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
            Some(input) => self.hooks.after(name, &input, &cx, output).await,
            None => output,
        })
    }

    /// From raw input to a call that may run, and what hooks want the model to know. Hooks are asked once
    /// for each input that comes from outside, of the model or of a person. What they make of it is
    /// prepared and judged again, and their word on it counts; what a person makes of it comes from outside.
    async fn permit(
        &self,
        tools: &Snapshot,
        entry: &Entry,
        input: Value,
        cx: &ToolContext,
    ) -> Result<(Permitted, Vec<String>), Refusal> {
        let spec = entry.tool.spec();
        let (mut prepared, mut decision) = self.judge(tools, entry, input, cx).await?;
        // The input a person wrote: agreeing to it once is enough.
        let mut agreed: Option<Agreed> = None;
        let mut context = Vec::new();
        for _ in 0..MAX_EDITS {
            let before = self.hooks.before(&spec.name, prepared.input(), cx).await;
            if let Verdict::Block(reason) = before.verdict {
                let error = ToolError::new(ErrorKind::HookBlocked, reason);
                return Err(Refusal { error, interrupt: before.stop });
            }
            context.extend(before.context);
            if let Some(input) = before.input.filter(|it| it != prepared.input()) {
                (prepared, decision) = self.judge(tools, entry, input, cx).await?;
            }
            let agreed_to = agreed.take().filter(|it| it.input == *prepared.input());
            decision = match (&agreed_to, before.verdict) {
                (Some(_), _) => Decision::Allow,
                (None, Verdict::Silent) => decision,
                (None, said) => self.heed(decision, said, entry, prepared.as_ref(), cx),
            };
            match self.confirmations.settle(decision, prepared, spec, cx).await? {
                Settled::Permitted(permitted) => {
                    if agreed_to.is_some_and(|it| it.always) {
                        self.grant(entry, permitted.prepared(), cx);
                    }
                    return Ok((permitted, context));
                }
                Settled::Edited { input, always_allow } => {
                    (prepared, decision) = self.judge(tools, entry, input, cx).await?;
                    let input = prepared.input().clone();
                    agreed = Some(Agreed { input, always: always_allow });
                }
            }
        }
        Err(Refusal::from(ToolError::new(
            ErrorKind::PolicyDenied,
            format!(
                "the input of `{}` was edited {MAX_EDITS} times and never agreed on",
                spec.name
            ),
        )))
    }

    /// Lets the same call run from now on without a question.
    fn grant(&self, entry: &Entry, prepared: &dyn Prepared, cx: &ToolContext) {
        let engine = self.engine(cx);
        let rules = ask(entry, prepared, cx, |question| engine.narrowest_rules(question));
        cx.session.grants.add(&rules.unwrap_or_default());
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
            let within = Within::new(cx, &self.closed, self.timeout(entry));
            let aside = cx.clone();
            within.run(cx.blocking(move |_| tool.prepare(input, &aside))).await?
        } else {
            fenced(|| tool.prepare(input, cx))?
        };
        if !has_long_line(prepared.as_ref()) {
            return self.decide(tools, entry, prepared, cx);
        }
        refuse_disabled(tools, entry)?;
        let within = Within::new(cx, &self.closed, self.timeout(entry));
        let (entry, engine, aside) = (entry.clone(), self.engine(cx), cx.clone());
        let judging = cx.blocking(move |_| decided(&entry, prepared, &engine, &aside));
        within.run(judging).await
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
        self.decide(&tools, entry, prepared, &cx).map(Some)
    }

    fn decide(
        &self,
        tools: &Snapshot,
        entry: &Entry,
        prepared: Box<dyn Prepared>,
        cx: &ToolContext,
    ) -> Result<Judged, ToolError> {
        refuse_disabled(tools, entry)?;
        decided(entry, prepared, &self.engine(cx), cx)
    }

    fn heed(
        &self,
        decision: Decision,
        said: Verdict,
        entry: &Entry,
        prepared: &dyn Prepared,
        cx: &ToolContext,
    ) -> Decision {
        let engine = self.engine(cx);
        ask(entry, prepared, cx, |question| decision.after_hooks(said, &engine, question))
    }

    /// What policy says of a call, with its reasons. Nothing runs.
    pub fn explain(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<policy::Verdict, ToolError> {
        let tools = self.registry.snapshot();
        let entry = self.find(&tools, &call.name, None)?;
        let cx = self.context(options);
        let prepared = fenced(|| Arc::clone(&entry.tool).prepare(call.input, &cx))?;
        let engine = self.engine(&cx);
        let verdict = ask(entry, prepared.as_ref(), &cx, |question| engine.decide(question));
        let name = &entry.tool.spec().name;
        Ok(if tools.is_disabled(name) { verdict.denied(disabled(name)) } else { verdict })
    }

    /// The policy of the call's session.
    fn engine(&self, cx: &ToolContext) -> Arc<PolicyEngine> {
        cx.session.grants.engine(self.policy.get())
    }

    /// What a tool that walks over files may know of them: what policy denies, or would ask for, is
    /// neither opened nor listed.
    fn visibility(&self, tool: &str, cx: &ToolContext) -> Visibility {
        let engine = self.engine(cx);
        if !engine.has_path_limits() {
            return Visibility::everything();
        }
        let tool = tool.to_owned();
        Visibility::judged_by(move |path, _subject| !engine.hides(&tool, path))
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
        self.refuse_when_closed()?;
        registration
            .and_then(|id| tools.find_replaced(id))
            .or_else(|| tools.find_called(name))
            .ok_or_else(|| unknown_tool(tools, name))
    }

    /// Nothing begins after the end.
    pub fn refuse_when_closed(&self) -> Result<(), ToolError> {
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
            session: self.sessions.get_or_start(options.session_id.as_deref().unwrap_or("default")),
            cancel: options.cancel.child_token(),
            commitment: Commitment::default(),
            progress: options.progress,
            max_result_bytes: self.limits.max_result_bytes,
            visibility: Visibility::everything(),
        }
    }
}

/// True when a call runs a line that takes more than a moment to judge: such are judged aside, so that
/// other calls go on and whoever ends the call is not kept waiting.
fn has_long_line(prepared: &dyn Prepared) -> bool {
    let is_long = |it: &Access| matches!(it, Access::Run(line) if line.len() > LONG_LINE);
    prepared.accesses().iter().any(is_long)
}

fn refuse_disabled(tools: &Snapshot, entry: &Entry) -> Result<(), ToolError> {
    let name = &entry.tool.spec().name;
    if tools.is_disabled(name) {
        return Err(ToolError::new(ErrorKind::ToolDisabled, disabled(name)));
    }
    Ok(())
}

/// What policy says of a prepared call; a denied one ends here.
fn decided(
    entry: &Entry,
    prepared: Box<dyn Prepared>,
    engine: &PolicyEngine,
    cx: &ToolContext,
) -> Result<Judged, ToolError> {
    match ask(entry, prepared.as_ref(), cx, |question| Decision::of(engine, question)) {
        Decision::Deny(error) => Err(error),
        decision @ (Decision::Allow | Decision::Ask(_)) => Ok((prepared, decision)),
    }
}

/// Puts a prepared call before the judge.
fn ask<T>(
    entry: &Entry,
    prepared: &dyn Prepared,
    cx: &ToolContext,
    judge: impl FnOnce(&Question) -> T,
) -> T {
    let spec = entry.tool.spec();
    judge(&Question {
        tool: &spec.name,
        origin: match entry.source {
            ToolSource::Builtin(_) => Origin::Builtin,
            ToolSource::Host => Origin::Host,
            ToolSource::Mcp { .. } => Origin::Mcp,
        },
        side_effect: spec.side_effect,
        annotations: &spec.annotations,
        input: prepared.input(),
        accesses: prepared.accesses(),
        directory: prepared.directory().unwrap_or_else(|| cx.session.roots.first()),
        follow_links: Some(&real_place),
    })
}

fn disabled(name: &str) -> String {
    format!("the host has disabled `{name}` (`disallowedTools`); use another tool")
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
