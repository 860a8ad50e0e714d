//! Information about registered tools, for the host.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolwright_base::{Annotations, Risk, SideEffect};
use toolwright_core::{Entry, Snapshot, ToolSource};
use toolwright_pipeline::{Definition, Definitions};

use super::HostRegistry;

/// A registered tool, for hosts and for clients of the HTTP server.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredToolInfo<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    /// `builtin`, `plugin`, `host` or `mcp`.
    source: &'static str,
    /// The JSON Schema of its input.
    input_schema: &'a Value,
    annotations: &'a Annotations,
    side_effect: SideEffect,
    /// How much harm a call could do.
    risk: Risk,
    /// True when policy allows a call before its input is known.
    allowed: bool,
    /// True when the host has disabled it.
    disabled: bool,
    /// The set that a built-in tool belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    toolset: Option<&'a str>,
    /// The server that an MCP tool belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<&'a str>,
    /// The name in the plugin file that a plugin tool belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin_name: Option<&'a str>,
    /// Other names under which it can be called.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'a [&'a str],
}

impl HostRegistry {
    /// The tool with this name or alias.
    pub fn tool_info(&self, name: &str) -> Option<Value> {
        let tools = self.pipeline.registry.snapshot();
        tools.find(name).map(|entry| self.info_of(entry, &tools, &self.definitions(&tools)))
    }

    /// Every tool, in order.
    pub fn tool_infos(&self) -> Vec<Value> {
        let tools = self.pipeline.registry.snapshot();
        let definitions = self.definitions(&tools);
        tools.entries().map(|entry| self.info_of(entry, &tools, &definitions)).collect()
    }

    fn info_of<'a>(
        &self,
        entry: &'a Entry,
        tools: &Snapshot,
        definitions: &Definitions<'a>,
    ) -> Value {
        let Definition { description, .. } = definitions.of(entry);
        let spec = entry.tool.spec();
        let (mut toolset, mut server_name, mut plugin_name) = (None, None, None);
        match &entry.source {
            ToolSource::Builtin(set) => toolset = Some(*set),
            ToolSource::Mcp { server } => server_name = Some(server.as_str()),
            ToolSource::Plugin { plugin } => plugin_name = Some(plugin.as_str()),
            ToolSource::Host => {}
        }
        json!(RegisteredToolInfo {
            name: &spec.name,
            title: &spec.title,
            description: &description,
            source: entry.source.as_str(),
            input_schema: &spec.input_schema,
            annotations: &spec.annotations,
            side_effect: spec.side_effect,
            risk: spec.side_effect.risk(),
            allowed: self.pipeline.is_allowed(&spec.name, None),
            disabled: tools.is_disabled(&spec.name),
            toolset,
            server_name,
            plugin_name,
            aliases: entry.tool.aliases(),
        })
    }
}
