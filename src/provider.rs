//! The formats in which model providers take tool definitions and the results of calls.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::{
    registry::{Entry, needs_gemini_prefix},
    tool::{Content, ToolOutput, ToolSpec, strict_schema},
};

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

/// Whether the provider makes sure that a model's input fits the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The model is only shown the schema.
    Guided,
    /// The provider enforces the schema, if it has a mode for that.
    Strict,
}

/// The definitions of the tools in a provider's format.
pub fn definitions<'a>(
    tools: impl Iterator<Item = &'a Entry>,
    format: DefinitionFormat,
    strictness: Strictness,
) -> Value {
    let specs = tools.map(|entry| entry.tool.spec());
    match format {
        DefinitionFormat::Mcp => specs.map(mcp_definition).collect(),
        DefinitionFormat::Anthropic => specs
            .map(|spec| json!({ "name": spec.name, "description": spec.description, "input_schema": spec.input_schema }))
            .collect(),
        DefinitionFormat::OpenAi => specs
            .map(|spec| {
                let function = openai_function(spec, strictness);
                json!({ "type": "function", "function": function })
            })
            .collect(),
        DefinitionFormat::OpenAiResponses => specs
            .map(|spec| {
                let mut function = openai_function(spec, strictness);
                function.insert("type".to_owned(), json!("function"));
                Value::Object(function)
            })
            .collect(),
        DefinitionFormat::Gemini => {
            let declarations: Vec<Value> = specs
                .map(|spec| {
                    let prefix = if needs_gemini_prefix(&spec.name) { "_" } else { "" };
                    json!({
                        "name": format!("{prefix}{}", spec.name),
                        "description": spec.description,
                        "parametersJsonSchema": spec.input_schema,
                    })
                })
                .collect();
            json!([{ "functionDeclarations": declarations }])
        }
    }
}

fn mcp_definition(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "annotations": spec.annotations,
    })
}

fn openai_function(spec: &ToolSpec, strictness: Strictness) -> Map<String, Value> {
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(spec.name));
    function.insert("description".to_owned(), json!(spec.description));
    match strictness {
        Strictness::Guided => {
            function.insert("parameters".to_owned(), spec.input_schema.clone());
        }
        Strictness::Strict => {
            function.insert("parameters".to_owned(), strict_schema(&spec.input_schema));
            function.insert("strict".to_owned(), json!(true));
        }
    }
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
    // These formats have no field that marks an error, so the text has to say it.
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

fn anthropic_block(block: &Content) -> Value {
    match block {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image { data, mime_type } => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime_type, "data": data },
        }),
        Content::Other(block) => {
            json!({ "type": "text", "text": Value::Object(block.clone()).to_string() })
        }
    }
}
