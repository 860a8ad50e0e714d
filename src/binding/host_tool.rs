//! A tool whose work is done by a JavaScript function.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use napi::{Status, threadsafe_function::ThreadsafeFunctionCallMode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    callbacks::{Aborter, Handler},
    envelope::plain_cause,
};
use crate::{
    error::{ErrorKind, ToolError},
    mcp::mcp_tool_name,
    registry::ToolSource,
    tool::{
        Access, Annotations, Content, DynTool, InputValidator, Prepared, SideEffect, ToolContext,
        ToolOutput, ToolSpec, check_foreign_schema,
    },
};

/// What the facade tells of a tool, beside its handler.
#[derive(Deserialize)]
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
    timeout_ms: Option<u32>,
    /// Set for tools of an MCP server that the host is connected to.
    #[serde(default)]
    mcp_server: Option<String>,
}

pub(super) struct HostTool {
    spec: ToolSpec,
    validator: InputValidator,
    timeout: Option<Duration>,
    handler: Handler,
    aborter: Arc<Aborter>,
    next_key: Arc<AtomicU64>,
}

impl HostTool {
    pub(super) fn new(
        host: HostToolSpec,
        handler: Handler,
        aborter: Arc<Aborter>,
        next_key: Arc<AtomicU64>,
    ) -> Result<(Arc<dyn DynTool>, ToolSource), ToolError> {
        let bad = |err| ToolError::new(ErrorKind::InvalidTool, format!("tool `{}`: {err}", host.name));
        check_foreign_schema(&host.input_schema).map_err(bad)?;
        let validator = InputValidator::new(&host.input_schema).map_err(bad)?;
        let side_effect = host.side_effect.unwrap_or_else(|| side_effect_of(&host.annotations));
        let (name, source) = match host.mcp_server {
            Some(server) => (mcp_tool_name(&server, &host.name), ToolSource::Mcp { server }),
            None => (host.name, ToolSource::Host),
        };
        let spec = ToolSpec {
            title: host.title.or_else(|| host.annotations.title.clone()).unwrap_or_else(|| name.clone()),
            name,
            description: host.description,
            input_schema: host.input_schema,
            side_effect,
            annotations: host.annotations,
        };
        let timeout = host.timeout_ms.map(|ms| Duration::from_millis(u64::from(ms)));
        Ok((Arc::new(Self { spec, validator, timeout, handler, aborter, next_key }), source))
    }
}

/// The seeds' rule for MCP annotations: read-only is low risk, destructive critical, silence high.
fn side_effect_of(annotations: &Annotations) -> SideEffect {
    match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => SideEffect::ReadOnly,
        (_, Some(true)) => SideEffect::Spawns,
        _ => SideEffect::Network,
    }
}

impl DynTool for HostTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        _cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let input = self.validator.accept(input)?;
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
        let key = tool.next_key.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "a process makes no 2^53 calls")]
        let key = key as f64;
        let context = json!({ "toolUseId": &*cx.tool_use_id, "sessionId": &cx.session.id });
        let mut running = Running { aborter: &tool.aborter, key: Some(key) };
        let promise = tool
            .handler
            .call_async_catch((key, input.to_string(), context.to_string()).into())
            .await
            .map_err(|err| unreachable_handler(&tool.spec.name, &err))?;
        let answer = promise.await;
        running.key = None;
        let answer = answer.map_err(|err| unreachable_handler(&tool.spec.name, &err))?;
        output_of(&answer, &tool.spec.name)
    }
}

/// Tells the handler when its call is dropped before it has answered.
struct Running<'a> {
    aborter: &'a Aborter,
    key: Option<f64>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.aborter.call(key, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// The facade's wrapper catches everything a handler throws, so what fails here is the environment.
fn unreachable_handler(name: &str, err: &napi::Error) -> ToolError {
    let cause = if err.status == Status::Closing { "its JavaScript environment has ended" } else { err.reason.as_str() };
    ToolError::new(ErrorKind::ToolFailed, format!("tool `{name}` cannot be called: {cause}"))
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
        error: None,
    };
    output.error = match answer.error {
        Some(AnswerError { kind, message }) => {
            let kind = kind.as_deref().and_then(|name| ErrorKind::ALL.iter().find(|it| it.as_str() == name));
            Some(ToolError::new(kind.copied().unwrap_or(ErrorKind::ToolFailed), message))
        }
        None if answer.is_error => Some(ToolError::new(ErrorKind::ToolFailed, output.joined_text())),
        None => None,
    };
    if output.content.is_empty()
        && let Some(error) = &output.error
    {
        output.content.push(Content::text(&error.message));
    }
    Ok(output)
}

fn content_of(mut block: Map<String, Value>) -> Content {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut take = |key: &str| match block.get_mut(key) {
        Some(Value::String(text)) => Some(std::mem::take(text)),
        _ => None,
    };
    match kind.as_str() {
        "text" if block.len() == 2 => {
            if let Some(text) = take("text") {
                return Content::Text { text };
            }
        }
        "image" if block.len() == 3 => {
            if let (Some(data), Some(mime_type)) = (take("data"), take("mimeType")) {
                return Content::Image { data, mime_type };
            }
        }
        _ => {}
    }
    Content::Other(block)
}
