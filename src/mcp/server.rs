//! The registry's tools as an MCP client is served with them.

use std::{pin::Pin, sync::Arc};

use serde_json::{Map, Value, json};
use toolwright_mcp_server::{Answer, Block, Call, Definition, Step, Tools};

use crate::{
    pipeline::{CallOptions, Pipeline, ToolCall},
    registry::{Entry, ToolSource},
    tool::{Content, Progress, ProgressSink, ToolOutput},
};

/// Where Claude's hosts put the id of the call.
const CLAUDE_TOOL_USE_ID: &str = "claudecode/toolUseId";
/// Tells Claude's hosts how large our answers may be; beyond 50,000 characters they would move them to
/// a file, though ours say themselves what they left out.
const CLAUDE_MAX_RESULT: &str = "anthropic/maxResultSizeChars";
/// Tells Claude's hosts whether a tool is in every request to the model. Beside tools of their own they
/// leave out all others, which the model then has to search for, and uses theirs instead.
const CLAUDE_ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// One client's view of the registry.
pub struct ServedTools {
    pipeline: Arc<Pipeline>,
    session_id: String,
}

impl ServedTools {
    /// For a client whose calls belong to one session.
    pub fn new(pipeline: Arc<Pipeline>, session_id: String) -> Self {
        Self { pipeline, session_id }
    }
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<Definition> {
        let tools = self.pipeline.registry.snapshot();
        tools.enabled().map(definition).collect()
    }

    fn find(&self, name: &str) -> Option<Definition> {
        self.pipeline.registry.snapshot().find(name).map(definition)
    }

    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        let Call { name, arguments, meta, cancel, steps } = call;
        let progress = match steps {
            Some(steps) => ProgressSink::new(move |news| {
                if let Progress::Step { progress, total, message } = news {
                    // A client that is gone misses nothing.
                    drop(steps.send(Step { progress, total, message }));
                }
            }),
            None => ProgressSink::default(),
        };
        let options = CallOptions {
            tool_use_id: meta.get(CLAUDE_TOOL_USE_ID).and_then(Value::as_str).map(str::to_owned),
            session_id: Some(self.session_id.clone()),
            cancel,
            progress,
            ..CallOptions::default()
        };
        let call = ToolCall { name, input: Value::Object(arguments) };
        Box::pin(async move { answer(self.pipeline.call(call, options).await) })
    }
}

fn definition(entry: &Entry) -> Definition {
    let spec = entry.tool.spec();
    let mut meta = Map::from_iter([(CLAUDE_MAX_RESULT.to_owned(), json!(500_000))]);
    if let Some(always) = always_load(entry) {
        meta.insert(CLAUDE_ALWAYS_LOAD.to_owned(), json!(always));
    }
    Definition {
        name: spec.name.clone(),
        title: spec.title.clone(),
        description: spec.description.clone(),
        input_schema: spec.input_schema.as_object().cloned().unwrap_or_default(),
        annotations: serde_json::to_value(&spec.annotations).unwrap_or_default(),
        meta,
    }
}

/// Whether a tool is told to a model from the beginning; nothing for leaving that to the host. A host that
/// took a registry wants its tools used, but other servers may bring hundreds.
fn always_load(entry: &Entry) -> Option<bool> {
    entry.tool.spec().always_load.or(match entry.source {
        ToolSource::Builtin(_) | ToolSource::Host => Some(true),
        ToolSource::Mcp { .. } => None,
    })
}

fn answer(output: ToolOutput) -> Answer {
    let mut meta = output.meta;
    if let Some(error) = &output.error {
        // Clients hand the content to the model; this is for the program and the person behind it.
        let mut told = json!({ "type": error.kind });
        if let (Some(details), Value::Object(told)) = (&error.details, &mut told) {
            told.insert("details".to_owned(), json!(details));
        }
        meta.insert("toolwright/error".to_owned(), told);
    }
    Answer {
        content: output.content.into_iter().map(block).collect(),
        structured: output.structured,
        is_error: output.error.is_some(),
        meta,
    }
}

fn block(content: Content) -> Block {
    match content {
        Content::Text { text } => Block::Text(text),
        Content::Image { data, mime_type } => Block::Image { data, mime_type },
        Content::Other(block) => Block::Other(block),
    }
}
