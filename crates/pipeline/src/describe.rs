//! Describes a call that has not been made: what it would do, and what a person would have to confirm.
//! Nothing runs, and no hook is called.

use std::sync::Arc;

use serde_json::Value;
use toolwright_base::{ToolError, shown_text};
use toolwright_policy::Decision;

use super::{
    CallOptions, Pipeline, ToolCall, call::Called, execute::closed_while_running,
    panic_fence::fenced,
};
use crate::{
    confirm::{ShownCall, details},
    hooks::HookVerdict,
};

/// The description of a call that has not been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// One line that says what the call would do.
    pub text: String,
    /// The locations it would touch.
    pub locations: Vec<String>,
}

impl Pipeline {
    /// Describes a call. Policy is not consulted, because a refused call needs a description too. An
    /// invalid input is shown as received. So is the input of a tool that prepares slowly, because the
    /// caller waits for this function.
    pub fn describe(
        &self,
        call: &ToolCall,
        options: CallOptions,
    ) -> Result<Description, ToolError> {
        let tools = self.registry.snapshot();
        let entry = self.find(&tools, &call.name, options.registration)?;
        let spec = entry.tool.spec();
        let as_it_came = || Description {
            text: shown_text(&spec.describe_input(&call.input)),
            locations: Vec::new(),
        };
        if entry.tool.prepares_slowly() {
            return Ok(as_it_came());
        }
        let cx = self.context_of(entry, options);
        let prepared = fenced(|| Arc::clone(&entry.tool).prepare(call.input.clone(), &cx));
        Ok(prepared.map_or_else(
            |_reported_when_it_runs| as_it_came(),
            |it| Description { text: it.shown_description(), locations: it.locations() },
        ))
    }

    /// The details of the confirmation request that a call would need, or none. A denied call is an
    /// error. An invalid input is not: it is reported when the call runs.
    pub async fn question(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<Option<Value>, ToolError> {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(closed_while_running()),
            question = self.open_question(call, options) => question,
        }
    }

    async fn open_question(
        &self,
        call: ToolCall,
        options: CallOptions,
    ) -> Result<Option<Value>, ToolError> {
        let tools = self.registry.snapshot();
        let registration = options.registration;
        let entry = self.find(&tools, &call.name, registration)?;
        let cx = self.context_of(entry, options);
        let _ended = cx.cancel.clone().drop_guard();
        let called = Called {
            tools: &tools,
            name: &call.name,
            registration,
            entry,
            bus: None,
            record: None,
        };
        let prepared = match self.prepare(&called, call.input, &cx).await {
            Ok(prepared) => prepared,
            Err(_) if cx.cancel.is_cancelled() => return Err(ToolError::cancelled()),
            Err(_) => return Ok(None),
        };
        let silent = HookVerdict::Silent;
        let (prepared, mut decision) =
            self.decide_off_thread(&called, prepared, &cx, &silent).await?;
        let mut own_confirmation = None;
        if prepared.has_own_confirmation() {
            own_confirmation = Some(self.own_confirmation(&called, prepared.as_ref(), &cx).await?);
            decision = self.decide(&called, prepared.as_ref(), &cx, &silent)?;
        }
        match decision {
            Decision::Allow => Ok(None),
            Decision::Deny(error) => Err(error),
            Decision::Ask(asking) => {
                let spec = entry.tool.spec();
                let ShownCall { details, .. } =
                    details(prepared, own_confirmation.as_ref(), &asking, spec, &cx).await?;
                Ok(Some(details.into()))
            }
        }
    }
}
