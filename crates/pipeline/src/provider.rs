//! The formats of model providers for tool definitions and for the results of calls.

use std::str::FromStr;

use serde_json::{Map, Value, json};
use toolwright_core::{Content, ToolOutput, image_in_words, needs_gemini_prefix, strict_schema};

use crate::definition::Definition;

/// The format of tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionFormat {
    /// The Model Context Protocol's `tools/list`.
    Mcp,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API, which many other providers offer too.
    OpenAi,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// Google's Gemini API.
    Gemini,
}

impl FromStr for DefinitionFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "mcp" => Ok(Self::Mcp),
            "anthropic" => Ok(Self::Anthropic),
            "openai" => Ok(Self::OpenAi),
            "openai-responses" => Ok(Self::OpenAiResponses),
            "gemini" => Ok(Self::Gemini),
            _ => Err(format!(
                "no format is named `{name}`; there are `mcp`, `anthropic`, `openai`, `openai-responses`, `gemini`"
            )),
        }
    }
}

/// Whether the provider guarantees that a model's input matches the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The model is only shown the schema.
    Guided,
    /// The provider enforces the schema, if it has a mode for that.
    Strict,
}

/// The definitions of the tools in a provider's format.
pub fn definitions<'a>(
    tools: impl Iterator<Item = Definition<'a>>,
    format: DefinitionFormat,
    strictness: Strictness,
) -> Value {
    match format {
        DefinitionFormat::Mcp => tools.map(mcp_definition).collect(),
        DefinitionFormat::Anthropic => tools
            .map(|Definition { entry, description, .. }| {
                let spec = entry.tool.spec();
                json!({
                    "name": spec.name,
                    "description": description,
                    "input_schema": spec.input_schema,
                })
            })
            .collect(),
        DefinitionFormat::OpenAi => tools
            .map(|tool| {
                let function = openai_function(&tool, strictness);
                json!({ "type": "function", "function": function })
            })
            .collect(),
        DefinitionFormat::OpenAiResponses => tools
            .map(|tool| {
                let mut function = openai_function(&tool, strictness);
                function.insert("type".to_owned(), json!("function"));
                Value::Object(function)
            })
            .collect(),
        DefinitionFormat::Gemini => {
            let declarations: Vec<Value> = tools
                .map(|Definition { entry, description, .. }| {
                    let spec = entry.tool.spec();
                    let prefix = if needs_gemini_prefix(&spec.name) { "_" } else { "" };
                    json!({
                        "name": format!("{prefix}{}", spec.name),
                        "description": description,
                        "parametersJsonSchema": spec.input_schema,
                    })
                })
                .collect();
            json!([{ "functionDeclarations": declarations }])
        }
    }
}

fn mcp_definition(tool: Definition<'_>) -> Value {
    let Definition { entry, description, output_schema } = tool;
    let spec = entry.tool.spec();
    let mut definition = json!({
        "name": spec.name,
        "title": spec.title,
        "description": description,
        "inputSchema": spec.input_schema,
        "annotations": spec.annotations,
    });
    if let (Some(schema), Value::Object(definition)) = (output_schema, &mut definition) {
        definition.insert("outputSchema".to_owned(), Value::Object(schema));
    }
    definition
}

fn openai_function(tool: &Definition<'_>, strictness: Strictness) -> Map<String, Value> {
    let Definition { entry, description, .. } = tool;
    let spec = entry.tool.spec();
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(spec.name));
    function.insert("description".to_owned(), json!(description));
    let parameters = match strictness {
        Strictness::Guided => spec.input_schema.clone(),
        Strictness::Strict => strict_schema(&spec.input_schema),
    };
    function.insert("parameters".to_owned(), parameters);
    // Always set: the Responses API treats a missing value as strict, and would reject an optional
    // parameter.
    function.insert("strict".to_owned(), json!(strictness == Strictness::Strict));
    function
}

/// The format of the results of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// `tool_result` blocks for the next user message.
    Anthropic,
    /// A message with the role `tool` for each result.
    OpenAi,
    /// An item of type `function_call_output` for each result.
    OpenAiResponses,
    /// A part with a `functionResponse` for each result.
    Gemini,
    /// MCP results, as `call` returns them.
    Mcp,
}

impl FromStr for ResultFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "anthropic" => Ok(Self::Anthropic),
            "openai" => Ok(Self::OpenAi),
            "openai-responses" => Ok(Self::OpenAiResponses),
            "gemini" => Ok(Self::Gemini),
            "mcp" => Ok(Self::Mcp),
            _ => Err(format!(
                "no result format is named `{name}`; there are `anthropic`, `openai`, \
                 `openai-responses`, `gemini`, `mcp`"
            )),
        }
    }
}

/// The result of a call with an id and a tool name, as JSON text in a provider's format.
pub fn result_json(output: &ToolOutput, id: &str, name: &str, format: ResultFormat) -> String {
    // These formats have no field that marks an error, so the text must say it.
    let text = || match output.error {
        Some(_) => format!("Error: {}", output.joined_text()),
        None => output.joined_text(),
    };
    match format {
        ResultFormat::Mcp => json!(output.result_view()),
        ResultFormat::Anthropic => {
            let content: Vec<Value> = output.content.iter().map(anthropic_block).collect();
            match output.error {
                None => json!({ "type": "tool_result", "tool_use_id": id, "content": content }),
                Some(_) => json!({
                    "type": "tool_result",
                    "tool_use_id": id,
                    "content": content,
                    "is_error": true,
                }),
            }
        }
        ResultFormat::OpenAi => json!({ "role": "tool", "tool_call_id": id, "content": text() }),
        ResultFormat::OpenAiResponses => {
            json!({ "type": "function_call_output", "call_id": id, "output": text() })
        }
        ResultFormat::Gemini => {
            let response = match output.error {
                None => json!({ "output": output.joined_text() }),
                Some(_) => json!({ "error": output.joined_text() }),
            };
            json!({ "functionResponse": { "id": id, "name": name, "response": response } })
        }
    }
    .to_string()
}

/// The image types that Anthropic's API accepts, under the names it uses.
fn anthropic_media_type(mime_type: &str) -> Option<&'static str> {
    match mime_type.to_ascii_lowercase().as_str() {
        "image/jpeg" | "image/jpg" => Some("image/jpeg"),
        "image/png" => Some("image/png"),
        "image/gif" => Some("image/gif"),
        "image/webp" => Some("image/webp"),
        _ => None,
    }
}

fn anthropic_block(block: &Content) -> Value {
    match block {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image { data, mime_type } => match anthropic_media_type(mime_type) {
            Some(media_type) => json!({
                "type": "image",
                "source": { "type": "base64", "media_type": media_type, "data": data },
            }),
            // The API would reject the whole request because of it.
            None => json!({ "type": "text", "text": image_in_words(data, mime_type) }),
        },
        Content::Other(block) => {
            json!({ "type": "text", "text": Value::Object(block.clone()).to_string() })
        }
    }
}
