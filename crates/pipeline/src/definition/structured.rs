//! The structured data of results (`structuredContent` in MCP), and their schemas.
//!
//! By default only the text of a result is sent: Claude's hosts show a model the data instead of the
//! text, and the data are longer and lack the context that hooks add. If a host asks for data, every
//! tool that declares an output gets an `outputSchema`, and each of its results, except errors, has
//! data that match it.

use serde_json::{Map, Value, json};
use toolwright_base::{DataScope, ToolSpec};
use toolwright_core::{AnswerData, Snapshot, ToolOutput};

/// Whether results have structured data in addition to their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructuredContent {
    /// Only the text is sent.
    #[default]
    LeftOut,
    /// The text and the data are sent.
    Sent,
}

/// The property with the text of the result, for clients that only use the data.
const TEXT: &str = "text";

impl StructuredContent {
    /// The `outputSchema` of a tool, if data are sent and the tool declares an output.
    pub fn schema(self, spec: &ToolSpec) -> Option<Map<String, Value>> {
        let output = spec.output.as_ref().filter(|_| self == Self::Sent)?;
        let text = json!({ "type": "string", "description": "The text for the model." });
        let mut text_alone = Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), json!({ TEXT: text })),
            ("required".to_owned(), json!([TEXT])),
            ("additionalProperties".to_owned(), json!(false)),
        ]);
        let Some(mut data) = output.schema.clone() else {
            return Some(text_alone);
        };
        let when = "Sent when the data are too large, a hook hides them, or the text has a message from \
                    the team.";
        text_alone.insert("description".to_owned(), json!(when));
        if output.scope == DataScope::FactsAboutText {
            add_text(&mut data, text);
        }
        // The protocol requires `type: object` at the top level.
        Some(Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("anyOf".to_owned(), json!([data, text_alone])),
        ]))
    }

    /// The result of a call of the named tool, in the form that is sent. Data of a tool that declares
    /// no output are sent unchanged. If the text contains news that the data lack, the data are left
    /// out, because a client that shows a model only the data would lose it.
    #[must_use]
    pub fn sent(self, mut output: ToolOutput, tools: &Snapshot, name: &str) -> ToolOutput {
        let declared = tools.find_called(name).and_then(|it| it.tool.spec().output.as_ref());
        output.structured = match (self, declared, output.structured.take()) {
            (Self::LeftOut, _, _) => None,
            (Self::Sent, None, data) => data.filter(|_| !output.has_news_in_text),
            (Self::Sent, Some(_), _) if output.error.is_some() => None,
            (Self::Sent, Some(declared), Some(data))
                if declared.scope == DataScope::FactsAboutText || !output.has_news_in_text =>
            {
                if declared.scope == DataScope::FactsAboutText {
                    let mut facts = data.value();
                    if let Value::Object(facts) = &mut facts {
                        facts.insert(TEXT.to_owned(), json!(output.joined_text()));
                    }
                    AnswerData::of(&facts).ok()
                } else {
                    Some(data)
                }
            }
            (Self::Sent, Some(_), _) => AnswerData::of(&json!({ TEXT: output.joined_text() })).ok(),
        };
        output
    }
}

fn add_text(schema: &mut Value, text: Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| json!({})) {
        properties.insert(TEXT.to_owned(), text);
    }
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([])) {
        required.push(json!(TEXT));
    }
}
