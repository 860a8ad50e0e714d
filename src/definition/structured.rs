//! The data of answers, as MCP clients and the handlers of tools are given them.
//!
//! Claude's hosts show a model the data in place of the text, which takes more words and lacks what hooks
//! added. So the text is all that is sent, unless a host asks for data. It then gets for every tool that
//! says what its data are a schema, and with every answer of such a tool that is no error data that fit it.

use serde_json::{Map, Value, json};

use crate::tool::{DataScope, ToolOutput, ToolSpec};

/// Whether answers carry data beside their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructuredContent {
    /// The text alone.
    #[default]
    LeftOut,
    /// The text and the data.
    Sent,
}

/// The property that holds the text, for a client that looks at nothing but the data.
const TEXT: &str = "text";

impl StructuredContent {
    /// The `outputSchema` of a tool.
    pub fn schema(self, spec: &ToolSpec) -> Option<Map<String, Value>> {
        let output = spec.output.as_ref().filter(|_| self == Self::Sent)?;
        let text = json!({ "type": "string", "description": "What the model is told." });
        let text_alone = json!({
            "type": "object",
            "description": "An answer without data: they were too large, or a hook keeps them back.",
            "properties": { TEXT: text },
            "required": [TEXT],
            "additionalProperties": false,
        });
        let Some(mut data) = output.schema.clone() else {
            return text_alone.as_object().cloned();
        };
        if output.scope == DataScope::FactsAboutText {
            add_property(&mut data, text);
        }
        // The protocol wants an object to be named as such at the top.
        json!({ "type": "object", "anyOf": [data, text_alone] }).as_object().cloned()
    }

    /// An answer as it is sent. Its tool may say what the data look like; what it does not say anything
    /// about is sent as it came.
    #[must_use]
    pub fn sent(self, mut output: ToolOutput, spec: Option<&ToolSpec>) -> ToolOutput {
        let declared = spec.and_then(|it| it.output.as_ref());
        output.structured = match (self, declared, output.structured.take()) {
            (Self::LeftOut, _, _) => None,
            (Self::Sent, None, data) => data,
            (Self::Sent, Some(_), _) if output.error.is_some() => None,
            (Self::Sent, Some(declared), Some(Value::Object(mut data))) => {
                if declared.scope == DataScope::FactsAboutText {
                    data.insert(TEXT.to_owned(), json!(output.joined_text()));
                }
                Some(Value::Object(data))
            }
            (Self::Sent, Some(_), _) => Some(json!({ TEXT: output.joined_text() })),
        };
        output
    }
}

fn add_property(schema: &mut Value, text: Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| json!({})) {
        properties.insert(TEXT.to_owned(), text);
    }
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([])) {
        required.push(json!(TEXT));
    }
}
