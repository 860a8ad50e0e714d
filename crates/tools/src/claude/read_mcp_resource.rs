//! `ReadMcpResource`: reads a resource of an MCP server.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, DataScope, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};

use crate::mcp_resources::{self, ReadResource};

#[derive(Default)]
pub(super) struct ReadMcpResource;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The name of the server.
    #[schemars(length(min = 1))]
    server: String,
    /// The URI of the resource.
    #[schemars(length(min = 1))]
    uri: String,
}

impl Tool for ReadMcpResource {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "ReadMcpResource";
    const TITLE: &'static str = "Read MCP Resource";
    const DESCRIPTION: &'static str = include_str!("../description/read_mcp_resource.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const ALIASES: &'static [&'static str] = &["ReadMcpResourceTool"];

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }
}

impl CallPlan for Input {
    type Output = ReadResource;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn locations(&self, _accesses: &[Access]) -> Vec<String> {
        vec![self.uri.clone()]
    }

    fn describe(&self) -> String {
        format!("Read {} of MCP server {}", self.uri, self.server)
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<ReadResource>, ToolError> {
        mcp_resources::read(&self.server, &self.uri, cx).await
    }
}
