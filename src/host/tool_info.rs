//! What a host is told about registered tools.

use serde_json::{Value, json};

use super::HostRegistry;
use crate::{
    definition::{Definition, Definitions},
    registry::{Entry, Snapshot, ToolSource},
};

impl HostRegistry {
    /// The tool of a name or alias.
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

    /// The seeds' `RegisteredToolInfo`, with what we know beyond it.
    fn info_of<'a>(
        &self,
        entry: &'a Entry,
        tools: &Snapshot,
        definitions: &Definitions<'a>,
    ) -> Value {
        let Definition { description, .. } = definitions.of(entry);
        let spec = entry.tool.spec();
        let mut info = json!({
            "name": spec.name,
            "title": spec.title,
            "description": description,
            "source": entry.source.as_str(),
            "inputSchema": spec.input_schema,
            "annotations": spec.annotations,
            "sideEffect": spec.side_effect,
            "risk": spec.side_effect.risk(),
            "allowed": self.pipeline.is_allowed(&spec.name, None),
            "disabled": tools.is_disabled(&spec.name),
        });
        let mut also = |key: &str, value: Value| {
            if let Some(info) = info.as_object_mut() {
                info.insert(key.to_owned(), value);
            }
        };
        match &entry.source {
            ToolSource::Builtin(set) => also("toolset", json!(set)),
            ToolSource::Mcp { server } => also("serverName", json!(server)),
            ToolSource::Plugin { plugin } => also("pluginName", json!(plugin)),
            ToolSource::Host => {}
        }
        if !entry.tool.aliases().is_empty() {
            also("aliases", json!(entry.tool.aliases()));
        }
        info
    }
}
