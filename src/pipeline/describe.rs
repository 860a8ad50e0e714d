//! What a host can say of a call before it makes it: what it would do, and what a person would have to
//! confirm. Nothing runs, and no hook is asked.

use std::sync::Arc;

use serde_json::Value;

use super::{
    CallOptions, Pipeline, ToolCall, call::Called, execute::closed_while_running,
    panic_fence::fenced,
};
use crate::{
    confirm::{ShownCall, details},
    error::ToolError,
    hooks::HookVerdict,
    policy::Decision,
    tool::shown_text,
};

/// What a person is shown of a call that has not been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// One line: what it is about to do.
    pub text: String,
    /// What it would touch.
    pub locations: Vec<String>,
}

impl Pipeline {
    /// Describes a call. Policy is not asked: whoever is told that a call is refused wants to know which.
    /// An input that cannot be used is shown as it came, and so is that of a tool that prepares slowly,
    /// because whoever shows the call waits for this.
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
            |_told_when_it_runs| as_it_came(),
            |it| Description { text: it.shown_description(), locations: it.locations() },
        ))
    }

    /// What a person would have to confirm before a call runs: the details that they would be asked with,
    /// or nothing. A call that is denied is an error; what is wrong with its input is told when it runs.
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
        let (prepared, mut decision) = self.decide_aside(&called, prepared, &cx, &silent).await?;
        let mut statement = None;
        if prepared.speaks_for_itself() {
            statement = Some(self.statement(&called, prepared.as_ref(), &cx).await?);
            decision = self.decide(&called, prepared.as_ref(), &cx, &silent)?;
        }
        match decision {
            Decision::Allow => Ok(None),
            Decision::Deny(error) => Err(error),
            Decision::Ask(asking) => {
                let spec = entry.tool.spec();
                let ShownCall { details, .. } =
                    details(prepared, statement.as_ref(), &asking, spec, &cx).await?;
                Ok(Some(details.into()))
            }
        }
    }
}
