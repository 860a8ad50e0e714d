//! The traits of tools: [`Tool`] with typed input for authors of tools, [`DynTool`] with JSON for the
//! registry.

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

/// A built-in tool, as its author writes it: one type in one file.
pub trait Tool: Send + Sync + 'static {
    /// The parsed input. Models see the schema that is derived from it.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The data of an answer; [`super::NoData`] where there are none. Its derived schema is what programs
    /// go by.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// The input with every path resolved: what is judged is what runs.
    type Plan: Send + Sync + 'static;

    /// The name by which models call it.
    const NAME: &'static str;
    /// The title that people are shown.
    const TITLE: &'static str;
    /// The text from which models learn when and how to call it.
    const DESCRIPTION: &'static str;
    /// The kind of effect that a call has.
    const SIDE_EFFECT: SideEffect;
    /// True when calls leave everything as it is, so that they may run in parallel. Todos and settings are
    /// harmless to policy, and changed all the same.
    const IS_READ_ONLY: bool = Self::SIDE_EFFECT.is_read_only();
    /// The kind of tool, which is all that policy knows about it.
    const KIND: ToolKind = ToolKind::PLAIN;
    /// How much of an answer its data say.
    const DATA_SCOPE: DataScope = DataScope::WholeAnswer;
    /// Other names it answers to.
    const ALIASES: &'static [&'static str] = &[];
    /// The time limit of one call, if it differs from the registry's.
    const TIMEOUT: Option<Duration> = None;

    /// Checks what a schema cannot express, and resolves the paths that the call will touch. Changes nothing.
    fn plan(&self, input: Self::Input, cx: &ToolContext) -> Result<Self::Plan, ToolError>;

    /// Declares what the call will touch.
    fn accesses(&self, plan: &Self::Plan) -> Vec<Access>;

    /// The kind of effect that this call has, where calls of the tool differ.
    fn side_effect(&self, _plan: &Self::Plan) -> SideEffect {
        Self::SIDE_EFFECT
    }

    /// The paths, commands and URLs that the call touches, as a person is shown them.
    fn locations(&self, _plan: &Self::Plan, accesses: &[Access]) -> Vec<String> {
        accesses.iter().map(Access::location).collect()
    }

    /// The working directory in which a command of this call starts.
    fn directory<'p>(&self, _plan: &'p Self::Plan) -> Option<&'p Path> {
        None
    }

    /// One line that tells a person what the call is about to do.
    fn describe(&self, plan: &Self::Plan) -> String;

    /// The change of a file that a person is shown when asked about the call. May read files, and changes
    /// nothing. A tool with a preview refuses to run if the file has changed since
    /// ([`ToolContext::shown_file`]).
    fn preview(&self, _plan: &Self::Plan, _cx: &ToolContext) -> Option<Preview> {
        None
    }

    /// Runs the call.
    fn run(
        &self,
        plan: Self::Plan,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput<Self::Output>, ToolError>> + Send;
}

/// A tool as the registry holds it. Built-in tools are wrapped by [`super::Typed`]; the tools of hosts, plugins
/// and MCP servers implement this trait themselves.
pub trait DynTool: Send + Sync {
    /// The name, description, schema and kind of the tool.
    fn spec(&self) -> &ToolSpec;

    /// Other names by which it can be called.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The time limit of one call, if it differs from the registry's.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// True when [`Self::prepare`] may take long. It then runs on a thread for blocking work, within the time
    /// limit of the call.
    fn prepares_slowly(&self) -> bool {
        false
    }

    /// Parses the input, resolves paths and declares accesses. This is the only way from JSON to a call.
    fn prepare(
        self: Arc<Self>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError>;
}

/// A call whose input is parsed and whose accesses are known, and which has not run yet.
#[async_trait]
pub trait Prepared: Send + Sync {
    /// The input after coercion. Policy and hooks see what will run.
    fn input(&self) -> &Value;

    /// The declared accesses of the call.
    fn accesses(&self) -> &[Access];

    /// The kind of effect that this call has, if it is not the one of every call of the tool.
    fn side_effect(&self) -> Option<SideEffect> {
        None
    }

    /// The paths, commands and URLs that the call touches, as a person is shown them.
    fn locations(&self) -> Vec<String> {
        self.accesses().iter().map(Access::location).collect()
    }

    /// The working directory in which its command starts, if it runs one.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// One line that tells a person what the call is about to do. May contain any characters of the input.
    fn description(&self) -> String;

    /// As [`Self::description`], with characters that cannot be seen escaped.
    fn shown_description(&self) -> String {
        shown_text(&self.description())
    }

    /// The change of a file that a person is shown when asked about the call. Reads files, so it may block.
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
