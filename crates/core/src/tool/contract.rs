//! The traits of tools: [`Tool`] with typed input for tool authors, [`DynTool`] with JSON for the
//! registry.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use toolwright_base::{
    Access, DataScope, KnownTool, SideEffect, ToolError, ToolKind, ToolSpec, shown_text,
};

use super::{OwnConfirmation, Preview, ToolContext, ToolOutput};

/// A built-in tool as its author writes it: its names, its input, and how a call is planned. One
/// type in one file. Tools that do the same share the type of their plan.
pub trait Tool: Send + Sync + 'static {
    /// The parsed input. Models see the schema that is derived from it.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// A checked call.
    type Plan: CallPlan;

    /// The name by which models call it.
    const NAME: &'static str;
    /// The title that people are shown.
    const TITLE: &'static str;
    /// The text that tells models when and how to call it.
    const DESCRIPTION: &'static str;
    /// The kind of effect that a call has.
    const SIDE_EFFECT: SideEffect;
    /// True when calls change nothing, so that they may run in parallel. Changing todos and settings is
    /// harmless to policy, but is still a change.
    const IS_READ_ONLY: bool = Self::SIDE_EFFECT.is_read_only();
    /// The kind of tool. Policy knows nothing else about it.
    const KIND: ToolKind = ToolKind::PLAIN;
    /// Other names by which it can be called.
    const ALIASES: &'static [&'static str] = &[];
    /// The time limit of one call, if it differs from the registry's.
    const TIMEOUT: Option<Duration> = None;

    /// Checks what a schema cannot express, and resolves the paths that the call will touch. Changes
    /// nothing.
    fn plan(&self, input: Self::Input, cx: &ToolContext) -> Result<Self::Plan, ToolError>;
}

/// A checked call of a [`Tool`]: the input with every path resolved, so that what policy judges is
/// exactly what runs.
pub trait CallPlan: Send + Sync + 'static {
    /// The data of a result; [`super::NoData`] if there are none. Programs see the schema derived from
    /// it.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// How much of a result its data contain.
    const DATA_SCOPE: DataScope = DataScope::WholeAnswer;

    /// Declares what the call will touch.
    fn accesses(&self) -> Vec<Access>;

    /// The kind of effect that this call has, if it differs from the tool's.
    fn side_effect(&self) -> Option<SideEffect> {
        None
    }

    /// The paths, commands and URLs that the call touches, for display to a person.
    fn locations(&self, accesses: &[Access]) -> Vec<String> {
        accesses.iter().map(Access::location).collect()
    }

    /// The working directory in which a command of this call starts.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// One line that tells a person what the call would do.
    fn describe(&self) -> String;

    /// The file change that a person is shown when asked about the call. May read files; changes
    /// nothing. A plan with a preview refuses to run if the file has changed since
    /// ([`ToolContext::shown_file`]).
    fn preview(&self, _cx: &ToolContext) -> Option<Preview> {
        None
    }

    /// Runs the call.
    fn run(
        self,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput<Self::Output>, ToolError>> + Send;
}

/// A tool as the registry stores it. Built-in tools are wrapped by [`super::Typed`]. The tools of
/// hosts, plugins and MCP servers implement this trait directly.
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

    /// Parses the input, resolves paths and declares accesses. There is no other way from JSON to a
    /// call.
    fn prepare(
        self: Arc<Self>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError>;
}

/// A call whose input is parsed and whose accesses are known, but which has not run yet.
#[async_trait]
pub trait Prepared: Send + Sync {
    /// The input after coercion: exactly what will run. Policy and hooks see this.
    fn input(&self) -> &Value;

    /// The declared accesses of the call.
    fn accesses(&self) -> &[Access];

    /// The kind of effect of this call, if it differs from the tool's.
    fn side_effect(&self) -> Option<SideEffect> {
        None
    }

    /// The paths, commands and URLs that the call touches, for display to a person.
    fn locations(&self) -> Vec<String> {
        self.accesses().iter().map(Access::location).collect()
    }

    /// The working directory in which its command starts, if it runs one.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// One line that tells a person what the call would do. May contain any characters of the input.
    fn description(&self) -> String;

    /// Like [`Self::description`], with invisible characters escaped.
    fn shown_description(&self) -> String {
        shown_text(&self.description())
    }

    /// The file change that a person is shown when asked about the call. Reads files, so it may block.
    fn preview(&self, _cx: &ToolContext) -> Option<Preview> {
        None
    }

    /// True when the tool describes and acknowledges each call itself. Then [`Self::own_confirmation`]
    /// is called before a person is asked, and [`Self::confirmed`] or [`Self::abandoned`] afterwards.
    fn has_own_confirmation(&self) -> bool {
        false
    }

    /// The tool's own description of the call. An error refuses the call, even if policy allows it.
    async fn own_confirmation(&self, _cx: &ToolContext) -> Result<OwnConfirmation, ToolError> {
        Ok(OwnConfirmation::default())
    }

    /// Tells the tool that a person approved the call, and waits until the tool acknowledges it. An
    /// error refuses the call.
    async fn confirmed(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Records the outcome of the confirmation. The tool is notified of it if the call is dropped
    /// without running.
    fn abandoned(&self, _outcome: &'static str) {}

    /// Does the work. Only the pipeline calls it, with a permitted call.
    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// The catalogue entry of a tool, made from its constants.
pub const fn known_tool<T: Tool>() -> KnownTool {
    KnownTool { name: T::NAME, aliases: T::ALIASES, side_effect: T::SIDE_EFFECT, kind: T::KIND }
}
