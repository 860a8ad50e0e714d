//! The two faces of a tool: typed for its author, erased for the registry.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Access, DataScope, Preview, SideEffect, Statement, ToolContext, ToolKind, ToolOutput, ToolSpec,
    shown_text,
};
use crate::error::ToolError;

/// What the author of a native tool writes: one type in one file.
pub trait Tool: Send + Sync + 'static {
    /// The parsed input; its derived schema is what models see.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The data of an answer; [`super::NoData`] where there are none. Its derived schema is what programs
    /// go by.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// The input with every path resolved: what is judged is what runs.
    type Plan: Send + Sync + 'static;

    /// The name models call.
    const NAME: &'static str;
    /// The title for people.
    const TITLE: &'static str;
    /// The text for models.
    const DESCRIPTION: &'static str;
    /// What a call leaves behind.
    const SIDE_EFFECT: SideEffect;
    /// What kind of tool it is: all that policy goes by.
    const KIND: ToolKind = ToolKind::PLAIN;
    /// How much of an answer its data say.
    const DATA_SCOPE: DataScope = DataScope::WholeAnswer;
    /// Other names it answers to.
    const ALIASES: &'static [&'static str] = &[];
    /// The time limit of one call, where it differs from the registry's.
    const TIMEOUT: Option<Duration> = None;

    /// Checks what a schema cannot say and resolves what the call will touch, without touching it.
    fn plan(&self, input: Self::Input, cx: &ToolContext) -> Result<Self::Plan, ToolError>;

    /// What this very call will touch.
    fn accesses(&self, plan: &Self::Plan) -> Vec<Access>;

    /// What a person is shown as touched by the call.
    fn locations(&self, _plan: &Self::Plan, accesses: &[Access]) -> Vec<String> {
        accesses.iter().map(Access::location).collect()
    }

    /// The directory a command line of this call starts in.
    fn directory<'p>(&self, _plan: &'p Self::Plan) -> Option<&'p Path> {
        None
    }

    /// One line for a person: what this call is about to do.
    fn describe(&self, plan: &Self::Plan) -> String;

    /// What a person who is asked is shown of the call's effect on a file. May look at files, and changes
    /// nothing. A tool that has a preview refuses to run when the file has changed since
    /// ([`ToolContext::shown_file`]).
    fn preview(&self, _plan: &Self::Plan, _cx: &ToolContext) -> Option<Preview> {
        None
    }

    /// Does the work.
    fn run(
        &self,
        plan: Self::Plan,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput<Self::Output>, ToolError>> + Send;
}

/// What the registry holds. Native tools come through [`super::Typed`]; a host's, a plugin's and an
/// MCP server's tools implement it directly.
pub trait DynTool: Send + Sync {
    /// What the tool says about itself.
    fn spec(&self) -> &ToolSpec;

    /// Other names it answers to.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The time limit of one call, where it differs from the registry's.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// True when preparing may take long, whatever the reason: it then runs off the async threads and
    /// within the call's time.
    fn prepares_slowly(&self) -> bool {
        false
    }

    /// The only way from raw JSON to something that can run: parses, resolves, declares accesses.
    fn prepare(
        self: Arc<Self>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError>;
}

/// A call whose input is parsed and whose accesses are known, and which has not run.
#[async_trait]
pub trait Prepared: Send + Sync {
    /// The input after coercion: what policy and hooks see is what runs.
    fn input(&self) -> &Value;

    /// What the call will touch.
    fn accesses(&self) -> &[Access];

    /// What a person is shown as touched by the call.
    fn locations(&self) -> Vec<String> {
        self.accesses().iter().map(Access::location).collect()
    }

    /// The directory its command line starts in, if it has one.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// One line for a person, with whatever the input brings along.
    fn description(&self) -> String;

    /// The same with everything in it to be seen.
    fn shown_description(&self) -> String {
        shown_text(&self.description())
    }

    /// What a person who is asked is shown of its effect. May look at files, so it may block.
    fn preview(&self, _cx: &ToolContext) -> Option<Preview> {
        None
    }

    /// True when the tool has a word of its own on each call: it is then asked for its [`Statement`] before
    /// anybody is asked about the call, and told how that ended.
    fn speaks_for_itself(&self) -> bool {
        false
    }

    /// What the tool itself says of the call. An error refuses it, whatever policy allows.
    async fn statement(&self, _cx: &ToolContext) -> Result<Statement, ToolError> {
        Ok(Statement::default())
    }

    /// Tells the tool that a person agreed to the call, and waits until it has heard. An error refuses it.
    async fn agreed(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Notes how the question about the call ended, for a tool that is told once the call is given up.
    fn given_up(&self, _outcome: &'static str) {}

    /// Does the work. The pipeline alone calls it, with a call that was permitted.
    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError>;
}
