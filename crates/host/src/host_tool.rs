//! A tool that is implemented by a function of the host.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_base::{
    Access, Annotations, DataScope, ErrorKind, HintsFrom, OutputSpec, SideEffect, ToolError,
    ToolSpec,
};
use toolwright_core::{
    AnswerData, DynTool, ForeignInput, ForeignTool, InputValidator, OwnConfirmation, Prepared,
    ToolContext, ToolOutput, ToolSource, check_foreign_schema,
};
use toolwright_mcp::mcp_tool_name;

use super::{
    HostFunction,
    handler_answer::{output_of, unreachable_host},
    own_invocation::OwnInvocation,
};

/// The specification of a host's tool, without its handler.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostToolSpec {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: String,
    input_schema: Value,
    #[serde(default)]
    annotations: Annotations,
    #[serde(default)]
    side_effect: Option<SideEffect>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 2_147_483_647))]
    timeout_ms: Option<u32>,
    /// True for a tool that makes an invocation object for each call, which can ask for confirmation itself.
    #[serde(default)]
    declarative: bool,
    #[serde(default)]
    always_load: Option<bool>,
    /// The schema of `structuredContent`.
    #[serde(default)]
    output_schema: Option<Value>,
    /// Set for tools of an MCP server that the host is connected to.
    #[serde(default)]
    mcp_server: Option<String>,
}

pub(super) struct HostTool {
    spec: ToolSpec,
    input: ForeignInput,
    /// Checks `structuredContent` if the host gives a schema for it.
    output_validator: Option<Arc<InputValidator>>,
    timeout: Option<Duration>,
    is_declarative: bool,
    handler: Arc<dyn HostFunction>,
}

impl HostTool {
    /// Builds the tool and its source.
    pub(super) fn from_host(
        host: HostToolSpec,
        handler: Arc<dyn HostFunction>,
    ) -> Result<(Arc<dyn DynTool>, ToolSource), ToolError> {
        let output_validator = host.output_schema.as_ref().map(|schema| {
            let checked = check_foreign_schema(schema).and_then(|()| InputValidator::new(schema));
            let validator = checked.map_err(|err| bad_output(&host.name, &err))?;
            Ok::<_, ToolError>(Arc::new(validator.naming("field")))
        });
        let output_validator = output_validator.transpose()?;
        let hints_from =
            if host.mcp_server.is_some() { HintsFrom::McpServer } else { HintsFrom::Host };
        let (name, source) = match host.mcp_server {
            Some(server) => (mcp_tool_name(&server, &host.name), ToolSource::Mcp { server }),
            None => (host.name.clone(), ToolSource::Host),
        };
        let foreign = ForeignTool {
            name,
            title: host.title,
            description: host.description,
            input_schema: host.input_schema,
            annotations: host.annotations,
            hints_from,
            side_effect: host.side_effect,
            output: host
                .output_schema
                .map(|it| OutputSpec { schema: Some(it), scope: DataScope::WholeAnswer }),
            always_load: host.always_load,
        };
        let (spec, input) = foreign.build().map_err(|err| {
            ToolError::new(ErrorKind::InvalidTool, format!("tool `{}`: {err}", host.name))
        })?;
        let timeout = host.timeout_ms.map(|ms| Duration::from_millis(u64::from(ms)));
        let is_declarative = host.declarative;
        let tool = Self { spec, input, output_validator, timeout, is_declarative, handler };
        Ok((Arc::new(tool), source))
    }
}

impl DynTool for HostTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn prepares_slowly(&self) -> bool {
        self.input.is_slow()
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        _cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let input = self.input.accept(&self.spec.name, input)?;
        let own = self.is_declarative.then(|| OwnInvocation::new(&self.handler, &self.spec.name));
        Ok(Box::new(HostCall { tool: self, input, own }))
    }
}

struct HostCall {
    tool: Arc<HostTool>,
    input: Value,
    /// The facade's invocation object, which is kept until the call has ended.
    own: Option<OwnInvocation>,
}

#[async_trait]
impl Prepared for HostCall {
    fn input(&self) -> &Value {
        &self.input
    }

    fn accesses(&self) -> &[Access] {
        // Unknown: only the host knows what its function accesses.
        &[]
    }

    fn description(&self) -> String {
        self.tool.spec.describe_input(&self.input)
    }

    fn has_own_confirmation(&self) -> bool {
        self.own.is_some()
    }

    async fn own_confirmation(&self, cx: &ToolContext) -> Result<OwnConfirmation, ToolError> {
        match &self.own {
            Some(own) => own.own_confirmation(&self.input, cx).await,
            None => Ok(OwnConfirmation::default()),
        }
    }

    async fn confirmed(&self) -> Result<(), ToolError> {
        match &self.own {
            Some(own) => own.confirmed().await,
            None => Ok(()),
        }
    }

    fn abandoned(&self, outcome: &'static str) {
        if let Some(own) = &self.own {
            own.abandoned(outcome);
        }
    }

    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        // `own` lives until the end of this function, so that the facade keeps the invocation while it runs.
        let Self { tool, input, own } = *self;
        let context = json!({
            "toolUseId": &*cx.tool_use_id,
            "sessionId": &cx.session.id,
            "watched": cx.progress.is_watched(),
            "invocation": own.as_ref().map(OwnInvocation::key),
        });
        let answered = tool.handler.call(&input, &context, cx.progress.clone()).await;
        let answer = answered.ok_or_else(|| unreachable_host(&tool.spec.name))?;
        let output = output_of(&answer, &tool.spec.name)?;
        match &tool.output_validator {
            Some(validator) => checked_output(output, validator, &tool.spec.name, cx).await,
            None => Ok(output),
        }
    }
}

fn bad_output(tool: &str, cause: &dyn std::fmt::Display) -> ToolError {
    ToolError::new(ErrorKind::InvalidTool, format!("tool `{tool}`: outputSchema: {cause}"))
}

/// Checks the data of an answer against the tool's schema. Clients reject answers that do not match it.
async fn checked_output(
    mut output: ToolOutput,
    validator: &Arc<InputValidator>,
    tool: &str,
    cx: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let Some(data) = output.structured.take().filter(|_| output.error.is_none()) else {
        return Ok(output);
    };
    let validator = Arc::clone(validator);
    let data = data.value();
    let accepted = cx.blocking(move |_| validator.accept(data)).await.map_err(|err| {
        let message = format!(
            "the structuredContent of `{tool}` does not match its outputSchema: {}; correct the handler or \
             the schema",
            err.message
        );
        ToolError::new(ErrorKind::ToolFailed, message)
    })?;
    output.structured = AnswerData::of(&accepted).ok();
    Ok(output)
}
