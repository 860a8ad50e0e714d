//! What a host is told about registered tools.

use serde_json::{Value, json};

use crate::{
    definition::{Definition, Definitions},
    pipeline::Pipeline,
    registry::{Entry, ToolSource},
    tools::ToolSet,
};

/// The seeds' `RegisteredToolInfo`, with what we know beyond it.
pub(super) fn tool_info<'a>(
    entry: &'a Entry,
    definitions: &Definitions<'a>,
    pipeline: &Pipeline,
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
        "allowed": pipeline.is_allowed(&spec.name, None),
        "disabled": pipeline.registry.snapshot().is_disabled(&spec.name),
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

/// Every tool that comes with the package, for the generated types and the snapshots.
pub(super) fn builtin_specs() -> Value {
    ToolSet::ALL
        .iter()
        .flat_map(|set| set.tools().into_iter().map(|tool| (set.as_str(), tool)))
        .map(|(set, tool)| {
            let spec = tool.spec();
            json!({
                "set": set,
                "name": spec.name,
                "aliases": tool.aliases(),
                "description": spec.description,
                "inputSchema": spec.input_schema,
                "outputSchema": spec.output.as_ref().and_then(|it| it.schema.as_ref()),
            })
        })
        .collect()
}
