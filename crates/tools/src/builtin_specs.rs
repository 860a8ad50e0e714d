//! Every tool that comes with the package.

use serde_json::{Value, json};

use super::ToolSet;

/// The specs of all built-in tools, as JSON for the generated types and the snapshots.
pub fn builtin_specs() -> Value {
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
