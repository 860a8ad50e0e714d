//! A tool whose work is done by a JavaScript function.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{envelope::plain_cause, host_calls::HostFunction};
use crate::{
    error::{ErrorKind, ToolError},
    mcp::mcp_tool_name,
    registry::ToolSource,
    tool::{
        Access, Annotations, Content, DynTool, HintsFrom, InputValidator, Prepared, SideEffect,
        ToolContext, ToolKind, ToolOutput, ToolSpec, check_foreign_schema,
    },
};

/// What the facade tells of a tool, beside its handler.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HostToolSpec {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: String,
    input_schema: Value,
    #[serde(default)]
    annotations: Annotations,
    #[serde(default)]
    side_effect: Option<SideEffect>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 2_147_483_647))]
    timeout_ms: Option<u32>,
    /// Set for tools of an MCP server that the host is connected to.
    #[serde(default)]
    mcp_server: Option<String>,
}

/// How many inputs of one tool are validated at a time.
const MAX_VALIDATING: usize = 128;

pub(super) struct HostTool {
    spec: ToolSpec,
    validator: InputValidator,
    /// References can make a small schema a large one, so that validation takes its time.
    refers: bool,
    /// How many inputs are being validated, for schemas with references.
    validating: AtomicUsize,
    timeout: Option<Duration>,
    handler: HostFunction,
}

impl HostTool {
    /// The tool, and where it comes from.
    pub(super) fn from_host(
        host: HostToolSpec,
        handler: HostFunction,
    ) -> Result<(Arc<dyn DynTool>, ToolSource), ToolError> {
        let bad =
            |err| ToolError::new(ErrorKind::InvalidTool, format!("tool `{}`: {err}", host.name));
        check_foreign_schema(&host.input_schema).map_err(bad)?;
        let validator = InputValidator::new(&closed(&host.input_schema)).map_err(bad)?;
        let refers = mentions(&host.input_schema, &["$ref", "$dynamicRef", "$recursiveRef"]);
        let hints_from =
            if host.mcp_server.is_some() { HintsFrom::McpServer } else { HintsFrom::Host };
        let by_hints = || host.annotations.side_effect(hints_from);
        let side_effect = host.side_effect.unwrap_or_else(by_hints);
        let (name, source) = match host.mcp_server {
            Some(server) => (mcp_tool_name(&server, &host.name), ToolSource::Mcp { server }),
            None => (host.name, ToolSource::Host),
        };
        let spec = ToolSpec {
            title: host
                .title
                .or_else(|| host.annotations.title.clone())
                .unwrap_or_else(|| name.clone()),
            name,
            description: host.description,
            input_schema: host.input_schema,
            side_effect,
            kind: ToolKind::PLAIN,
            annotations: host.annotations,
        };
        let timeout = host.timeout_ms.map(|ms| Duration::from_millis(u64::from(ms)));
        let validating = AtomicUsize::new(0);
        let tool = Self { spec, validator, refers, validating, timeout, handler };
        Ok((Arc::new(tool), source))
    }
}

/// The schema with unknown parameters refused at its top, unless it says something about them itself.
fn closed(schema: &Value) -> Value {
    let says = ["additionalProperties", "unevaluatedProperties", "patternProperties", "$ref"];
    let combines = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
    let mut schema = schema.clone();
    if let Some(root) = schema.as_object_mut()
        // `{ type: "object" }` alone takes any object.
        && root.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty())
        && !says.iter().chain(&combines).any(|key| root.contains_key(*key))
    {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}

fn mentions(schema: &Value, keywords: &[&str]) -> bool {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| keywords.contains(&key.as_str()) || mentions(value, keywords)),
        Value::Array(items) => items.iter().any(|item| mentions(item, keywords)),
        _ => false,
    }
}

impl DynTool for HostTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn prepares_slowly(&self) -> bool {
        self.refers
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        _cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        // A validation cannot be stopped: a schema that keeps threads busy gets no more of them.
        if self.validating.fetch_add(1, Ordering::Relaxed) >= MAX_VALIDATING {
            self.validating.fetch_sub(1, Ordering::Relaxed);
            let name = &self.spec.name;
            let message =
                format!("tool `{name}` still validates earlier input; its schema is too costly");
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        let accepted = self.validator.accept(input);
        self.validating.fetch_sub(1, Ordering::Relaxed);
        let input = accepted?;
        Ok(Box::new(HostCall { tool: self, input }))
    }
}

struct HostCall {
    tool: Arc<HostTool>,
    input: Value,
}

#[async_trait]
impl Prepared for HostCall {
    fn input(&self) -> &Value {
        &self.input
    }

    fn accesses(&self) -> &[Access] {
        // What a host's function touches is known to the host alone.
        &[]
    }

    fn description(&self) -> String {
        let input = self.input.to_string();
        let shown: String = input.chars().take(120).collect();
        let cut = if shown.len() < input.len() { "…" } else { "" };
        format!("{} {shown}{cut}", self.tool.spec.title)
    }

    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Self { tool, input } = *self;
        let context = json!({
            "toolUseId": &*cx.tool_use_id,
            "sessionId": &cx.session.id,
            "watched": cx.progress.is_watched(),
        });
        let answered = tool.handler.call(&input, &context, cx.progress.clone()).await;
        let answer = answered.ok_or_else(|| gone(&tool.spec.name))?;
        output_of(&answer, &tool.spec.name)
    }
}

/// The facade's wrapper catches everything a handler throws, so what fails here is the environment.
fn gone(name: &str) -> ToolError {
    ToolError::new(
        ErrorKind::ToolFailed,
        format!("tool `{name}` cannot be called: its JavaScript environment has ended"),
    )
}

/// A handler's answer after the facade brought it into one shape.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    content: Vec<Map<String, Value>>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    display: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: Map<String, Value>,
    #[serde(default)]
    error: Option<AnswerError>,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: String,
}

fn output_of(answer: &str, name: &str) -> Result<ToolOutput, ToolError> {
    let answer: Answer = serde_json::from_str(answer).map_err(|err| {
        ToolError::new(
            ErrorKind::ToolFailed,
            format!("tool `{name}` did not answer with a result: {}", plain_cause(&err)),
        )
    })?;
    let content: Vec<Content> = answer.content.into_iter().map(content_of).collect();
    let mut output = ToolOutput {
        content,
        structured: answer.structured_content,
        display: answer.display,
        meta: answer.meta,
        ..ToolOutput::default()
    };
    output.error = match answer.error {
        Some(AnswerError { kind, message }) => {
            let kind = kind
                .as_deref()
                .and_then(|name| ErrorKind::ALL.iter().find(|it| it.as_str() == name));
            Some(ToolError::new(kind.copied().unwrap_or(ErrorKind::ToolFailed), message))
        }
        None if answer.is_error => {
            let text = output.joined_text();
            let message = if text.is_empty() { "the tool failed without a message" } else { &text };
            Some(ToolError::new(ErrorKind::ToolFailed, message))
        }
        None => None,
    };
    if output.content.is_empty()
        && let Some(error) = &output.error
    {
        output.content.push(Content::text(&error.message));
    }
    Ok(output)
}

/// A block of one of the two kinds we know; what has more or other fields is passed on as it came.
fn content_of(mut block: Map<String, Value>) -> Content {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_text = |key: &str| block.get(key).is_some_and(Value::is_string);
    let shape =
        (kind.as_str(), block.len(), is_text("text"), is_text("data") && is_text("mimeType"));
    let mut take = |key: &str| match block.remove(key) {
        Some(Value::String(text)) => text,
        other => other.unwrap_or_default().to_string(),
    };
    match shape {
        ("text", 2, true, _) | ("text", _, false, _) => Content::Text { text: take("text") },
        ("image", 3, _, true) => Content::Image { data: take("data"), mime_type: take("mimeType") },
        _ => Content::Other(block),
    }
}
