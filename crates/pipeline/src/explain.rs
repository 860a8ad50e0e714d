//! What policy would decide on a call, without running any of it.

use std::sync::Arc;

use serde_json::Value;
use toolwright_base::{Annotations, SideEffect, ToolError, ToolKind};
use toolwright_core::{DEFAULT_SESSION, Snapshot};
use toolwright_policy::{Action, Basis, Origin, PolicyVerdict, Question};
use toolwright_sandbox::{ExplainedCall, PermittedCall};

use super::{
    CallOptions, Pipeline, ToolCall,
    panic_fence::fenced,
    permit::{ask, origin_of, out_of_limits, switched_off},
};

impl Pipeline {
    /// The policy verdict on a call with its reasons, and the sandbox its command would run in. Runs
    /// nothing.
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
        let spec = entry.tool.spec();
        let permitted = PermittedCall { spec, prepared: prepared.as_ref(), is_confirmed: false };
        let shared = self.sessions.shared();
        match self.sandbox_plans.explained(&engine, &permitted, shared, &cx.cancel) {
            Ok(sandbox) => Ok(ExplainedCall { verdict, sandbox }),
            // It would not run without the sandbox, so it counts as denied.
            Err(refused) => {
                Ok(ExplainedCall { verdict: verdict.denied(refused.message), sandbox: None })
            }
        }
    }

    /// True when policy allows a call of which only the tool is known. A tool that is not registered is
    /// allowed only if a rule names it.
    pub fn is_allowed(&self, name: &str, session_id: Option<&str>) -> bool {
        let tools = self.registry.snapshot();
        let entry = tools.find(name);
        let spec = entry.map(|it| it.tool.spec());
        // An alias stands for the tool itself.
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
            directory: session.shared.files.roots.first(),
            follow_links: None,
        });
        let verdict = self.unless_switched_off(verdict, name, &tools, &session.id);
        verdict.action == Action::Allow && (entry.is_some() || verdict.basis == Basis::Rule)
    }

    /// The policy verdict, or a denial if the tool is disabled, the session may not use it, or the
    /// session has ended.
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

    /// True unless the session is limited to other tools. The registry itself has no such limit.
    pub fn offers(&self, session_id: Option<&str>, tool: &str) -> bool {
        session_id.is_none_or(|it| !self.policy.is_out_of_reach(it, tool))
    }
}
