//! Turns raw input into a call that may run: prepares it, decides by policy, runs hooks, asks a person.
//!
//! Hooks and people take time, and policy, mode and tools may change meanwhile. The state at the start
//! of the call counts, so the call is judged again after every wait.

use std::sync::Arc;

use serde_json::Value;
use toolwright_base::{Access, ErrorKind, ToolError};
use toolwright_core::{Entry, OwnConfirmation, Prepared, ShownFile, ToolContext, ToolSource};
use toolwright_files::real_place;
use toolwright_policy::{Action, Decision, Origin, PolicyEngine, Question};

use super::{
    Pipeline,
    call::Called,
    execute::BoundedCall,
    hook_decision::{after_hooks, reason_of_hook},
    panic_fence::fenced,
};
use crate::{
    confirm::{Approval, Permitted, Refusal, RequestOutcome, SettledCall},
    hooks::{HookVerdict, PreToolStep},
};

/// Longer command lines are judged on a thread for blocking work.
const LONG_LINE: usize = 2_048;

/// How often the input of one call may be edited before the call is refused.
const MAX_EDITS: usize = 3;

/// A prepared call with the policy decision.
pub(super) type JudgedCall = (Box<dyn Prepared>, Decision);

/// A call that may run, with what was collected on the way.
pub(super) struct Permit {
    pub(super) permitted: Permitted,
    /// The file whose diff a person was shown.
    pub(super) shown_file: Option<ShownFile>,
    /// True when a person confirmed it.
    pub(super) is_confirmed: bool,
    /// The rules that a person granted with it for this session.
    pub(super) granted: Vec<String>,
    /// Context from hooks for the model.
    pub(super) context: Vec<String>,
}

/// A call after its hooks have run.
struct AfterHooks {
    prepared: Box<dyn Prepared>,
    decision: Decision,
    said: HookVerdict,
}

impl Pipeline {
    /// Turns raw input into a call that may run. Hooks see each input that the model or a person wrote.
    /// An input that a hook rewrites is prepared and judged again, and the hooks' verdict on it counts.
    /// An input that a person rewrites is treated like a new one from the model.
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
        // The input that a person wrote, with their approval. It needs no second confirmation.
        let mut written: Option<(Value, Approval)> = None;
        let mut context = Vec::new();
        for _ in 0..MAX_EDITS {
            let (prepared, decision) = judged;
            let after_hooks = if self.hooks.pre_tool_hooks(&spec.name).is_empty() {
                AfterHooks { prepared, decision, said: HookVerdict::Silent }
            } else {
                // Boxed, because few calls have hooks: otherwise the future of every call would be
                // larger.
                Box::pin(self.run_pre_tool_hooks(called, prepared, cx, &mut context)).await?
            };
            let AfterHooks { prepared, mut decision, said } = after_hooks;
            let approved = written.take().filter(|it| it.0 == *prepared.input());
            let mut own_confirmation = None;
            if prepared.has_own_confirmation() {
                own_confirmation =
                    Some(Box::pin(self.own_confirmation(called, prepared.as_ref(), cx)).await?);
                if approved.is_some() {
                    Box::pin(confirmations.report_confirmed(prepared.as_ref(), spec, cx)).await?;
                }
                decision = self.decide(called, prepared.as_ref(), cx, &said)?;
            }
            if approved.is_some() {
                decision = Decision::Allow;
            }
            let judge_again = |prepared: &dyn Prepared| {
                self.decide(called, prepared, cx, &said).map(|_allowed_or_approved| ())
            };
            let record = called.record.filter(|_| decision.action() == Action::Ask);
            if let Some(record) = record {
                record.waits();
            }
            let settled = confirmations
                .settle(decision, prepared, own_confirmation.as_ref(), spec, cx, &judge_again)
                .await;
            if let Some(record) = record {
                record.answered(match &settled {
                    Ok(_) => Some(RequestOutcome::Approved),
                    Err(refusal) => refusal.asked,
                });
            }
            match settled? {
                SettledCall::Permitted(permitted, answered) => {
                    let was_written = approved.is_some();
                    let approval = answered.or(approved.map(|it| it.1));
                    let granted = match approval.as_ref().filter(|it| it.always_allow) {
                        Some(_) if was_written => {
                            self.narrowest_rules(entry, permitted.prepared(), cx)
                        }
                        Some(approval) => approval.rules.clone(),
                        None => Vec::new(),
                    };
                    self.policy.grant(&cx.session.id, &granted);
                    let is_confirmed = approval.is_some();
                    let shown_file = approval.and_then(|it| it.shown_file);
                    return Ok(Permit { permitted, shown_file, is_confirmed, granted, context });
                }
                SettledCall::Edited(input, approval) => {
                    judged = self.judge(called, input, cx).await?;
                    written = Some((judged.0.input().clone(), approval));
                }
            }
        }
        Err(Refusal::from(ToolError::new(
            ErrorKind::PolicyDenied,
            format!(
                "the input of `{}` was edited {MAX_EDITS} times and never confirmed; ask the user what \
                 they want",
                spec.name
            ),
        )))
    }

    /// Runs the hooks until all of them have seen the final input. Each rewrite is prepared and judged
    /// before the next hook sees it.
    async fn run_pre_tool_hooks(
        &self,
        called: &Called<'_>,
        mut prepared: Box<dyn Prepared>,
        cx: &ToolContext,
        context: &mut Vec<String>,
    ) -> Result<AfterHooks, Refusal> {
        let mut pre_tool_hooks = self.hooks.pre_tool_hooks(&called.entry.tool.spec().name);
        loop {
            match pre_tool_hooks.next(prepared.input(), cx).await {
                PreToolStep::Rewritten(input) => {
                    (prepared, _) = self.judge(called, input, cx).await?;
                }
                PreToolStep::Blocked { reason, stop } => {
                    let error = ToolError::new(ErrorKind::HookBlocked, reason).allowed_by(
                        "a host can allow it by another answer of its PreToolUse hooks",
                    );
                    return Err(Refusal { error, interrupt: stop, asked: None });
                }
                PreToolStep::Over { said, context: added } => {
                    // Hooks that run again, on an input that a person wrote, may add the same context
                    // again.
                    for it in added {
                        if !context.contains(&it) {
                            context.push(it);
                        }
                    }
                    let (prepared, decision) =
                        self.decide_off_thread(called, prepared, cx, &said).await?;
                    return Ok(AfterHooks { prepared, decision, said });
                }
            }
        }
    }

    /// The narrowest rules that allow the same call from now on; none if no rule can.
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

    /// Asks a tool with its own confirmation how it describes its call.
    ///
    /// Policy takes precedence. A denied call never gets here. A call that a rule, a mode, a default or
    /// a hook allows runs without confirmation; a host tool is allowed by nothing less. Where policy
    /// asks, the person is shown the tool's own description, and the tool cannot skip the question. The
    /// tool can refuse its call.
    pub(super) async fn own_confirmation(
        &self,
        called: &Called<'_>,
        prepared: &dyn Prepared,
        cx: &ToolContext,
    ) -> Result<OwnConfirmation, ToolError> {
        let within = BoundedCall::new(cx, &self.closed, self.timeout(called.entry));
        within.run(prepared.own_confirmation(cx)).await
    }

    /// Prepares and decides. A denied call ends here, before any hook sees it.
    async fn judge(
        &self,
        called: &Called<'_>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<JudgedCall, ToolError> {
        let prepared = self.prepare(called, input, cx).await?;
        self.decide_off_thread(called, prepared, cx, &HookVerdict::Silent).await
    }

    /// Prepares the call, on a blocking thread if the tool prepares slowly.
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
        let context = cx.clone();
        within.run(cx.blocking(move |_| tool.prepare(input, &context))).await
    }

    /// Like [`Self::decide`], but judges a long command line on a blocking thread, so that other calls
    /// and a cancellation do not wait for it.
    pub(super) async fn decide_off_thread(
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
        let (entry, judge, context) = (called.entry.clone(), Arc::clone(&engine), cx.clone());
        let with_reason = called.record.is_some();
        let judging = cx.blocking(move |_| {
            let ruled = ask(&entry, prepared.as_ref(), &context, |question| {
                ruled(&judge, question, with_reason)
            });
            Ok((prepared, ruled))
        });
        let within = BoundedCall::new(cx, &self.closed, self.timeout(called.entry));
        let (prepared, ruled) = within.run(judging).await?;
        // Policy may have changed in the meantime.
        let decision = if Arc::ptr_eq(&engine, &self.engine(cx)) {
            self.check_still_there(called, cx)?;
            apply_hooks(ruled, said, &engine, called)?
        } else {
            self.decide(called, prepared.as_ref(), cx, said)?
        };
        Ok((prepared, decision))
    }

    /// The current policy decision on a call, combined with the hooks' verdict. Returns an error if the
    /// call is denied, or if the tool was disabled, removed or replaced meanwhile.
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
        apply_hooks(ruled, said, &engine, called)
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
}

fn has_long_line(prepared: &dyn Prepared) -> bool {
    let is_long = |it: &Access| matches!(it, Access::Run(line) if line.len() > LONG_LINE);
    prepared.accesses().iter().any(is_long)
}

/// The policy decision, and its reason if `with_reason` is set. Without that, an allowed call has no
/// reason.
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

/// Applies the hooks' verdict to a policy decision. A denied call becomes an error here.
fn apply_hooks(
    (decision, reason): (Decision, Option<String>),
    said: &HookVerdict,
    engine: &PolicyEngine,
    called: &Called<'_>,
) -> Result<Decision, ToolError> {
    let risk = called.entry.tool.spec().side_effect.risk();
    let by_policy = decision.action();
    let decision = after_hooks(decision, said, engine.mode(), risk);
    if let (Some(record), Some(reason)) = (called.record, reason) {
        let changed = (decision.action() != by_policy).then(|| reason_of_hook(&decision, said));
        record.decided(&decision, &changed.unwrap_or(reason));
    }
    match decision {
        Decision::Deny(error) => Err(error),
        decision @ (Decision::Allow | Decision::Ask(_)) => Ok(decision),
    }
}

/// Asks policy a question about a prepared call.
pub(super) fn ask<T>(
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
        directory: prepared.directory().unwrap_or_else(|| cx.session.shared.files.roots.first()),
        follow_links: Some(&real_place),
    })
}

pub(super) const fn origin_of(entry: &Entry) -> Origin {
    match entry.source {
        ToolSource::Builtin(_) => Origin::Builtin,
        ToolSource::Host | ToolSource::Plugin { .. } => Origin::Host,
        ToolSource::Mcp { .. } => Origin::Mcp,
    }
}

/// The message tells the model to use another tool. The details tell the host where it disabled this
/// one.
fn disabled(name: &str) -> ToolError {
    let message = format!("`{name}` is switched off here; use another tool, or ask the user");
    ToolError::new(ErrorKind::ToolDisabled, message).with_details(
        &switched_off(name),
        "a host can allow it by `registry.enable`, or by taking the tool out of `disallowedTools`",
        Vec::new(),
    )
}

/// The message tells the model to use another tool. The details tell the host how it limited the
/// session.
fn out_of_reach(name: &str) -> ToolError {
    let message = format!("`{name}` is not among the tools of this agent; use another tool");
    ToolError::new(ErrorKind::ToolDisabled, message).with_details(
        &out_of_limits(name),
        "a host can allow it by adding the tool to the session's limit (`limitTools`)",
        Vec::new(),
    )
}

pub(super) fn out_of_limits(name: &str) -> String {
    format!("the host has limited the session to other tools than `{name}` (`limitTools`)")
}

pub(super) fn switched_off(name: &str) -> String {
    format!("the host has disabled `{name}` (`disallowedTools`)")
}
