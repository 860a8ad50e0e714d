//! A tool that a plugin file defines.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::Value;
use toolwright_base::{
    Access, Annotations, SideEffect, ToolError, ToolFamily, ToolKind, ToolSpec, shown_path,
};
use toolwright_core::{
    DynTool, InputValidator, Prepared, ToolContext, ToolOutput, has_references, shown_schema,
};
use toolwright_tools::{FixedCommand, run_fixed};

use super::{
    definition::PluginToolDefinition,
    file_handler::{FileHandler, PlannedRead},
    http_handler::{HttpHandler, PlannedRequest},
    parameter::{CallValues, Parameters},
    shell_handler::ShellHandler,
};

/// A tool of a plugin file.
pub(super) struct PluginTool {
    definition: PluginToolDefinition,
    spec: ToolSpec,
    validator: InputValidator,
    parameters: Parameters,
    handler: PluginHandler,
    has_references: bool,
}

/// How a tool does its work.
pub(super) enum PluginHandler {
    Shell(ShellHandler),
    Http(HttpHandler),
    FileRead(FileHandler),
}

impl PluginHandler {
    const fn side_effect(&self) -> SideEffect {
        match self {
            Self::Shell(_) | Self::Http(_) => SideEffect::Network,
            Self::FileRead(_) => SideEffect::None,
        }
    }

    /// The kind, by which policy selects the limits that apply.
    const fn kind(&self) -> ToolKind {
        let family = match self {
            Self::Shell(_) => ToolFamily::RunsCommands,
            Self::Http(_) => ToolFamily::Fetches,
            Self::FileRead(_) => ToolFamily::ReadsFiles,
        };
        let inputs: &[&str] = if matches!(self, Self::FileRead(_)) { &["path"] } else { &[] };
        ToolKind { family: Some(family), inputs, ..ToolKind::PLAIN }
    }
}

impl PluginTool {
    pub(super) fn new(
        definition: PluginToolDefinition,
        validator: InputValidator,
        parameters: Parameters,
        handler: PluginHandler,
    ) -> Self {
        let side_effect = handler.side_effect();
        let spec = ToolSpec {
            name: definition.name.clone(),
            title: definition.name.clone(),
            description: definition.description.clone(),
            input_schema: shown_schema(&definition.input_schema, &str::to_owned),
            output: None,
            side_effect,
            kind: handler.kind(),
            annotations: Annotations {
                read_only_hint: Some(side_effect.is_read_only()),
                ..Annotations::default()
            },
            always_load: None,
        };
        let has_references = has_references(&definition.input_schema);
        Self { definition, spec, validator, parameters, handler, has_references }
    }

    pub(super) fn definition(&self) -> &PluginToolDefinition {
        &self.definition
    }
}

impl DynTool for PluginTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn timeout(&self) -> Option<Duration> {
        match &self.handler {
            PluginHandler::Shell(it) => Some(it.call_limit()),
            PluginHandler::Http(it) => Some(it.call_limit()),
            PluginHandler::FileRead(_) => None,
        }
    }

    fn prepares_slowly(&self) -> bool {
        self.has_references
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let input = self.validator.accept(self.parameters.fill_defaults(input))?;
        let values = CallValues(&input);
        let plan = match &self.handler {
            PluginHandler::Shell(it) => PluginPlan::Command(it.plan(values, cx)?),
            PluginHandler::Http(it) => PluginPlan::Request(Box::new(it.plan(values)?)),
            PluginHandler::FileRead(it) => PluginPlan::Read(it.plan(values, cx)?),
        };
        let accesses = vec![plan.access()];
        Ok(Box::new(PluginCall { tool: self, input, plan, accesses }))
    }
}

/// What a call will do.
enum PluginPlan {
    Command(FixedCommand),
    Request(Box<PlannedRequest>),
    Read(PlannedRead),
}

impl PluginPlan {
    fn access(&self) -> Access {
        match self {
            Self::Command(it) => Access::Run(it.line.clone()),
            Self::Request(it) => Access::Connect(it.url.to_string()),
            Self::Read(it) => Access::Read(it.path.absolute().to_owned()),
        }
    }
}

struct PluginCall {
    tool: Arc<PluginTool>,
    input: Value,
    plan: PluginPlan,
    accesses: Vec<Access>,
}

#[async_trait]
impl Prepared for PluginCall {
    fn input(&self) -> &Value {
        &self.input
    }

    fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    fn directory(&self) -> Option<&Path> {
        match &self.plan {
            PluginPlan::Command(it) => Some(&it.directory),
            PluginPlan::Request(_) | PluginPlan::Read(_) => None,
        }
    }

    fn description(&self) -> String {
        let name = &self.tool.spec.name;
        match &self.plan {
            PluginPlan::Command(it) => format!("{name}: {}", it.line),
            PluginPlan::Request(it) => format!("{name}: {} {}", it.method_name(), it.url),
            PluginPlan::Read(it) => format!("{name}: {}", shown_path(it.path.absolute())),
        }
    }

    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        match self.plan {
            PluginPlan::Command(command) => run_fixed(command, cx).await,
            PluginPlan::Request(request) => request.send(cx).await,
            PluginPlan::Read(read) => read.run(cx).await,
        }
    }
}
