//! `ReadMcpResource`: reads a resource of an MCP server.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, DataScope, SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext, ToolOutput};

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
    type Output = ReadResource;
    type Plan = Input;

    const NAME: &'static str = "ReadMcpResource";
    const TITLE: &'static str = "Read MCP Resource";
    const DESCRIPTION: &'static str = include_str!("../description/read_mcp_resource.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const ALIASES: &'static [&'static str] = &["ReadMcpResourceTool"];

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }

    fn accesses(&self, _plan: &Input) -> Vec<Access> {
        Vec::new()
    }

    fn locations(&self, plan: &Input, _accesses: &[Access]) -> Vec<String> {
        vec![plan.uri.clone()]
    }

    fn describe(&self, plan: &Input) -> String {
        format!("Read {} of MCP server {}", plan.uri, plan.server)
    }

    async fn run(
        &self,
        plan: Input,
        cx: &ToolContext,
    ) -> Result<ToolOutput<ReadResource>, ToolError> {
        mcp_resources::read(&plan.server, &plan.uri, cx).await
    }
}
