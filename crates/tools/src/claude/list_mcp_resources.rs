//! `ListMcpResources`: lists the resources of MCP servers.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};

use crate::mcp_resources::{self, ListedResources};

#[derive(Default)]
pub(super) struct ListMcpResources;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The name of a server. Default: all servers.
    #[serde(default)]
    server: Option<String>,
}

impl Tool for ListMcpResources {
    type Input = Input;
    type Plan = Input;

    const NAME: &'static str = "ListMcpResources";
    const TITLE: &'static str = "List MCP Resources";
    const DESCRIPTION: &'static str = include_str!("../description/list_mcp_resources.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const ALIASES: &'static [&'static str] = &["ListMcpResourcesTool"];

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Input, ToolError> {
        Ok(input)
    }
}

impl CallPlan for Input {
    type Output = ListedResources;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        match &self.server {
            Some(server) => format!("List the resources of MCP server {server}"),
            None => "List the resources of all MCP servers".to_owned(),
        }
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<ListedResources>, ToolError> {
        mcp_resources::list(self.server.as_deref(), cx).await
    }
}
