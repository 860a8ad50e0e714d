//! Makes a call that may run from raw input: prepares it, decides by policy, runs hooks, asks a person.
//!
//! Hooks and people take time, and policy, mode and tools may change meanwhile. What counts is what holds
//! when the call starts, so it is judged again after every wait.

use std::sync::Arc;

use serde_json::Value;

use super::{
    CallOptions, Pipeline, ToolCall,
    call::Called,
    execute::BoundedCall,
    heed::{after_hooks, said_by_hook},
    panic_fence::fenced,
    sandbox_plan::ExplainedCall,
};
use crate::{
    confirm::{Permitted, Refusal, RequestOutcome, SettledCall, Yes},
    error::{ErrorKind, ToolError},
    hooks::{HearingStep, HookVerdict},
    policy::{Action, Basis, Decision, Origin, PolicyEngine, PolicyVerdict, Question},
    registry::{Entry, Snapshot, ToolSource},
    session::DEFAULT_SESSION,
    tool::{
        Access, Annotations, Prepared, ShownFile, SideEffect, Statement, ToolContext, ToolKind,
    },
    workspace::real_place,
};

/// Longer command lines are judged on a thread for blocking work.
const LONG_LINE: usize = 2_048;

/// How often the input of one call may be edited before the call is refused.
const MAX_EDITS: usize = 3;

/// A prepared call with the decision of policy.
pub(super) type JudgedCall = (Box<dyn Prepared>, Decision);

/// A call that may run, and what was collected on the way.
pub(super) struct Permit {
    pub(super) permitted: Permitted,
    /// The file of which a person was shown a change.
    pub(super) shown_file: Option<ShownFile>,
    /// True when a person agreed to it.
    pub(super) is_agreed: bool,
    /// The rules that a person granted with it, for this session.
    pub(super) granted: Vec<String>,
    /// Texts of hooks for the model.
    pub(super) context: Vec<String>,
}

/// A call after its hooks have run.
struct Heard {
    prepared: Box<dyn Prepared>,
    decision: Decision,
    said: HookVerdict,
}

impl Pipeline {
    /// From raw input to a call that may run. Hooks are asked about each input that comes from outside, of
    /// the model or of a person. What they make of it is prepared and judged again, and their word on it
    /// counts; what a person makes of it comes from outside.
    pub(super) async fn permit(
        &self,
        called: &Called<'_>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Permit, Refusal> {
        let entry = called.entry;
        let spec = entry.tool.spec();
        let over_own_bus = called.bus.clone().map(|it| self.confirmations.over(it));
        let confirmations = over_own_bus.as_ref().unwrap_or(&self.confirmations);
        let mut judged = self.judge(called, input, cx).await?;
        // The input a person wrote, and what they said with it: agreeing to it once is enough.
        let mut written: Option<(Value, Yes)> = None;
        let mut context = Vec::new();
        for _ in 0..MAX_EDITS {
            let (prepared, decision) = judged;
            let heard = if self.hooks.hearing(&spec.name).is_empty() {
                Heard { prepared, decision, said: HookVerdict::Silent }
            } else {
                // Kept aside, like whatever few calls wait for.
                Box::pin(self.hear(called, prepared, cx, &mut context)).await?
            };
            let Heard { prepared, mut decision, said } = heard;
            let agreed = written.take().filter(|it| it.0 == *prepared.input());
            let mut statement = None;
            if prepared.speaks_for_itself() {
                statement = Some(Box::pin(self.statement(called, prepared.as_ref(), cx)).await?);
                if agreed.is_some() {
                    Box::pin(confirmations.tell_agreed(prepared.as_ref(), spec, cx)).await?;
                }
                decision = self.decide(called, prepared.as_ref(), cx, &said)?;
            }
            if agreed.is_some() {
                decision = Decision::Allow;
            }
            let judge_again = |prepared: &dyn Prepared| {
                self.decide(called, prepared, cx, &said).map(|_allowed_or_agreed_to| ())
            };
            let record = called.record.filter(|_| decision.action() == Action::Ask);
            if let Some(record) = record {
                record.waits();
            }
            let settled = confirmations
                .settle(decision, prepared, statement.as_ref(), spec, cx, &judge_again)
                .await;
            if let Some(record) = record {
                record.answered(match &settled {
                    Ok(_) => Some(RequestOutcome::Approved),
                    Err(refusal) => refusal.asked,
                });
            }
            match settled? {
                SettledCall::Permitted(permitted, answered) => {
                    let was_written = agreed.is_some();
                    let yes = answered.or(agreed.map(|it| it.1));
                    let granted = match yes.as_ref().filter(|it| it.always_allow) {
                        Some(_) if was_written => {
                            self.narrowest_rules(entry, permitted.prepared(), cx)
                        }
                        Some(yes) => yes.rules.clone(),
                        None => Vec::new(),
                    };
                    self.policy.grant(&cx.session.id, &granted);
                    let is_agreed = yes.is_some();
                    let shown_file = yes.and_then(|it| it.shown_file);
                    return Ok(Permit { permitted, shown_file, is_agreed, granted, context });
                }
                SettledCall::Edited(input, yes) => {
                    judged = self.judge(called, input, cx).await?;
                    written = Some((judged.0.input().clone(), yes));
                }
            }
        }
        Err(Refusal::from(ToolError::new(
            ErrorKind::PolicyDenied,
            format!(
                "the input of `{}` was edited {MAX_EDITS} times and never agreed on; ask the user what \
                 they want",
                spec.name
            ),
        )))
    }

    /// Asks the hooks until all of them have seen the input that will run. Each rewrite is prepared and
    /// judged before the next hook sees it.
    async fn hear(
        &self,
        called: &Called<'_>,
        mut prepared: Box<dyn Prepared>,
        cx: &ToolContext,
        context: &mut Vec<String>,
    ) -> Result<Heard, Refusal> {
        let mut hearing = self.hooks.hearing(&called.entry.tool.spec().name);
        loop {
            match hearing.go_on(prepared.input(), cx).await {
                HearingStep::Rewritten(input) => {
                    (prepared, _) = self.judge(called, input, cx).await?;
                }
                HearingStep::Blocked { reason, stop } => {
                    let error = ToolError::new(ErrorKind::HookBlocked, reason).allowed_by(
                        "a host can allow it by another answer of its PreToolUse hooks",
                    );
                    return Err(Refusal { error, interrupt: stop, asked: None });
                }
                HearingStep::Over { said, context: told } => {
                    // One that is asked again, about what a person wrote, may say the same again.
                    for it in told {
                        if !context.contains(&it) {
                            context.push(it);
                        }
                    }
                    let (prepared, decision) =
                        self.decide_aside(called, prepared, cx, &said).await?;
                    return Ok(Heard { prepared, decision, said });
                }
            }
        }
    }

    /// The rules that allow the same call from now on; none if no rule can.
    fn narrowest_rules(
        &self,
        entry: &Entry,
        prepared: &dyn Prepared,
        cx: &ToolContext,
    ) -> Vec<String> {
        let engine = self.engine(cx);
        let rules = ask(entry, prepared, cx, |question| engine.narrowest_rules(question));
        rules.unwrap_or_default()
    }

    /// Asks a tool that speaks for itself what it says of its call.
    ///
    /// Policy stands above it, as in the seed: what is denied never gets here; what somebody allowed, by a
    /// rule, a mode, a default or a hook, runs without a question (a host's tool is never allowed by
    /// anything less); and where policy asks, the tool's words are what a person is shown, and a tool that
    /// wants no question does not spare them one. What the tool can do by itself is refuse.
    pub(super) async fn statement(
        &self,
        called: &Called<'_>,
        prepared: &dyn Prepared,
        cx: &ToolContext,
    ) -> Result<Statement, ToolError> {
        let within = BoundedCall::new(cx, &self.closed, self.timeout(called.entry));
        within.run(prepared.statement(cx)).await
    }

    /// Prepares and decides; a denied call ends here, before any hook sees it.
    async fn judge(
        &self,
        called: &Called<'_>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<JudgedCall, ToolError> {
        let prepared = self.prepare(called, input, cx).await?;
        self.decide_aside(called, prepared, cx, &HookVerdict::Silent).await
    }

    /// Prepares, off the async threads where that may take long.
    pub(super) async fn prepare(
        &self,
        called: &Called<'_>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let tool = Arc::clone(&called.entry.tool);
        if !tool.prepares_slowly() {
            return fenced(|| tool.prepare(input, cx));
        }
        let within = BoundedCall::new(cx, &self.closed, self.timeout(called.entry));
        let aside = cx.clone();
        within.run(cx.blocking(move |_| tool.prepare(input, &aside))).await
    }

    /// As [`Self::decide`]. A line that takes more than a moment to judge is judged on another thread, so
    /// that other calls go on and whoever ends the call is not kept waiting.
    pub(super) async fn decide_aside(
        &self,
        called: &Called<'_>,
        prepared: Box<dyn Prepared>,
        cx: &ToolContext,
        said: &HookVerdict,
    ) -> Result<JudgedCall, ToolError> {
        if !has_long_line(prepared.as_ref()) {
            let decision = self.decide(called, prepared.as_ref(), cx, said)?;
            return Ok((prepared, decision));
        }
        let engine = self.engine(cx);
        let (entry, judge, aside) = (called.entry.clone(), Arc::clone(&engine), cx.clone());
        let with_reason = called.record.is_some();
        let judging = cx.blocking(move |_| {
            let ruled = ask(&entry, prepared.as_ref(), &aside, |question| {
                ruled(&judge, question, with_reason)
            });
            Ok((prepared, ruled))
        });
        let within = BoundedCall::new(cx, &self.closed, self.timeout(called.entry));
        let (prepared, ruled) = within.run(judging).await?;
        // Policy may have changed in the meantime.
        let decision = if Arc::ptr_eq(&engine, &self.engine(cx)) {
            self.check_still_there(called, cx)?;
            heeded(ruled, said, &engine, called)?
        } else {
            self.decide(called, prepared.as_ref(), cx, said)?
        };
        Ok((prepared, decision))
    }

    /// What policy says of a call at this moment, with what hooks said of it. What is denied, switched off,
    /// removed or replaced by now is an error.
    pub(super) fn decide(
        &self,
        called: &Called<'_>,
        prepared: &dyn Prepared,
        cx: &ToolContext,
        said: &HookVerdict,
    ) -> Result<Decision, ToolError> {
        self.check_still_there(called, cx)?;
        let engine = self.engine(cx);
        let ruled = ask(called.entry, prepared, cx, |question| {
            ruled(&engine, question, called.record.is_some())
        });
        heeded(ruled, said, &engine, called)
    }

    /// Returns an error if the tool was disabled, removed or replaced since the call was received.
    fn check_still_there(&self, called: &Called<'_>, cx: &ToolContext) -> Result<(), ToolError> {
        let name = &called.entry.tool.spec().name;
        self.refuse_when_closed()?;
        self.check_session(&cx.session.id)?;
        let tools = self.registry.snapshot();
        if !Arc::ptr_eq(&tools, called.tools)
            && self.find(&tools, called.name, called.registration)?.id != called.entry.id
        {
            let message = format!(
                "`{name}` was replaced by another tool before the call could run; make the call again"
            );
            return Err(ToolError::new(ErrorKind::UnknownTool, message));
        }
        if tools.is_disabled(name) {
            return Err(disabled(name));
        }
        if self.policy.is_out_of_reach(&cx.session.id, name) {
            return Err(out_of_reach(name));
        }
        Ok(())
    }

    /// What policy says of a call, with its reasons, and what its command would be held to. Nothing runs.
    pub fn explain(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<ExplainedCall, ToolError> {
        let tools = self.registry.snapshot();
        let entry = self.find(&tools, &call.name, None)?;
        let cx = self.context_of(entry, options);
        let prepared = fenced(|| Arc::clone(&entry.tool).prepare(call.input, &cx))?;
        let engine = self.engine(&cx);
        let verdict = ask(entry, prepared.as_ref(), &cx, |question| engine.explain(question));
        let name = &entry.tool.spec().name;
        let verdict = self.unless_switched_off(verdict, name, &tools, &cx.session.id);
        if verdict.action == Action::Deny {
            return Ok(ExplainedCall { verdict, sandbox: None });
        }
        match self.explained_sandbox(entry, prepared.as_ref(), &cx) {
            Ok(sandbox) => Ok(ExplainedCall { verdict, sandbox }),
            // It would not run without the sandbox.
            Err(refused) => {
                Ok(ExplainedCall { verdict: verdict.denied(refused.message), sandbox: None })
            }
        }
    }

    /// True when policy allows a call of which nothing is known but the tool. A tool that is not here
    /// is only allowed where a rule names it.
    pub fn is_allowed(&self, name: &str, session_id: Option<&str>) -> bool {
        let tools = self.registry.snapshot();
        let entry = tools.find(name);
        let spec = entry.map(|it| it.tool.spec());
        // An alias means the tool itself.
        let name = spec.map_or(name, |it| &it.name);
        let session = self.sessions.get_or_start(session_id.unwrap_or(DEFAULT_SESSION));
        let verdict = self.policy.of_session(&session.id).decide(&Question {
            tool: name,
            origin: entry.map_or_else(|| Origin::of_name(name), origin_of),
            side_effect: spec.map_or(SideEffect::Network, |it| it.side_effect),
            kind: spec.map_or(&ToolKind::PLAIN, |it| &it.kind),
            annotations: spec.map_or(&Annotations::default(), |it| &it.annotations),
            input: &Value::Null,
            accesses: &[],
            directory: session.shared.roots.first(),
            follow_links: None,
        });
        let verdict = self.unless_switched_off(verdict, name, &tools, &session.id);
        verdict.action == Action::Allow && (entry.is_some() || verdict.basis == Basis::Rule)
    }

    /// What holds for a call: the word of policy, unless the tool is switched off, for the session or for
    /// all, or the session has ended.
    fn unless_switched_off(
        &self,
        verdict: PolicyVerdict,
        tool: &str,
        tools: &Snapshot,
        session_id: &str,
    ) -> PolicyVerdict {
        if let Err(ended) = self.check_session(session_id) {
            verdict.denied(ended.message)
        } else if tools.is_disabled(tool) {
            verdict.denied(switched_off(tool))
        } else if self.policy.is_out_of_reach(session_id, tool) {
            verdict.denied(out_of_limits(tool))
        } else {
            verdict
        }
    }

    /// True when a session may use a tool of this name, as far as it is limited to tools.
    pub fn offers(&self, session_id: &str, tool: &str) -> bool {
        !self.policy.is_out_of_reach(session_id, tool)
    }
}

fn has_long_line(prepared: &dyn Prepared) -> bool {
    let is_long = |it: &Access| matches!(it, Access::Run(line) if line.len() > LONG_LINE);
    prepared.accesses().iter().any(is_long)
}

/// What policy says, and why, if that is wanted also of what is allowed.
fn ruled(
    engine: &PolicyEngine,
    question: &Question,
    with_reason: bool,
) -> (Decision, Option<String>) {
    if with_reason {
        let (decision, reason) = Decision::with_reason(engine, question);
        return (decision, Some(reason));
    }
    (Decision::of(engine, question), None)
}

/// A decision once hooks have spoken; a denied call ends here.
fn heeded(
    (decision, reason): (Decision, Option<String>),
    said: &HookVerdict,
    engine: &PolicyEngine,
    called: &Called<'_>,
) -> Result<Decision, ToolError> {
    let risk = called.entry.tool.spec().side_effect.risk();
    let by_policy = decision.action();
    let decision = after_hooks(decision, said, engine.mode(), risk);
    if let (Some(record), Some(reason)) = (called.record, reason) {
        let changed = (decision.action() != by_policy).then(|| said_by_hook(&decision, said));
        record.decided(&decision, &changed.unwrap_or(reason));
    }
    match decision {
        Decision::Deny(error) => Err(error),
        decision @ (Decision::Allow | Decision::Ask(_)) => Ok(decision),
    }
}

/// Describes a prepared call as a question to policy.
fn ask<T>(
    entry: &Entry,
    prepared: &dyn Prepared,
    cx: &ToolContext,
    judge: impl FnOnce(&Question) -> T,
) -> T {
    let spec = entry.tool.spec();
    judge(&Question {
        tool: &spec.name,
        origin: origin_of(entry),
        side_effect: prepared.side_effect().unwrap_or(spec.side_effect),
        kind: &spec.kind,
        annotations: &spec.annotations,
        input: prepared.input(),
        accesses: prepared.accesses(),
        directory: prepared.directory().unwrap_or_else(|| cx.session.shared.roots.first()),
        follow_links: Some(&real_place),
    })
}

const fn origin_of(entry: &Entry) -> Origin {
    match entry.source {
        ToolSource::Builtin(_) => Origin::Builtin,
        ToolSource::Host | ToolSource::Plugin { .. } => Origin::Host,
        ToolSource::Mcp { .. } => Origin::Mcp,
    }
}

/// The model looks for another tool; the host knows where it switched this one off.
fn disabled(name: &str) -> ToolError {
    let message = format!("`{name}` is switched off here; use another tool, or ask the user");
    ToolError::new(ErrorKind::ToolDisabled, message).with_details(
        &switched_off(name),
        "a host can allow it by `registry.enable`, or by taking the tool out of `disallowedTools`",
        Vec::new(),
    )
}

/// The model looks for another tool; the host knows what it limited the session to.
fn out_of_reach(name: &str) -> ToolError {
    let message = format!("`{name}` is not among the tools of this agent; use another tool");
    ToolError::new(ErrorKind::ToolDisabled, message).with_details(
        &out_of_limits(name),
        "a host can allow it by limiting the session to tools that it is among (`limitTools`)",
        Vec::new(),
    )
}

fn out_of_limits(name: &str) -> String {
    format!("the host has limited the session to other tools than `{name}` (`limitTools`)")
}

fn switched_off(name: &str) -> String {
    format!("the host has disabled `{name}` (`disallowedTools`)")
}
