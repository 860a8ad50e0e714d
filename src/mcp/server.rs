//! The registry's tools as an MCP client is served with them.

use std::{pin::Pin, sync::Arc};

use serde_json::{Map, Value, json};
use toolwright_mcp_server::{
    Answer, Arrived, Block, Call, Definition as ToldTool, ServerIdentity, Step, Tools,
};

use crate::{
    definition::{Definition, Definitions, StructuredContent},
    pipeline::{Arrival, CallOptions, Pipeline, ToolCall},
    registry::{Entry, Snapshot, ToolSource},
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
#[derive(Clone)]
pub struct ServedTools {
    pipeline: Arc<Pipeline>,
    session_id: String,
    structured_content: StructuredContent,
}

impl ServedTools {
    /// For a client whose calls belong to one session.
    pub fn new(
        pipeline: Arc<Pipeline>,
        session_id: String,
        structured_content: StructuredContent,
    ) -> Self {
        Self { pipeline, session_id, structured_content }
    }

    /// What the server says of itself, with where the workspace is.
    pub fn introduced(&self, identity: ServerIdentity) -> ServerIdentity {
        let tools = self.pipeline.registry.snapshot();
        let definitions = self.definitions(&tools);
        let words = identity.instructions.as_deref().filter(|it| !it.is_empty());
        let instructions: Vec<&str> = words.into_iter().chain(definitions.workspace()).collect();
        ServerIdentity {
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
            ..identity
        }
    }

    fn definitions<'a>(&self, tools: &'a Snapshot) -> Definitions<'a> {
        Definitions::new(tools, self.pipeline.sessions.roots(), self.structured_content)
    }

    async fn call(self, arrival: Arrival, call: Call) -> Answer {
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
            session_id: Some(self.session_id),
            cancel,
            progress,
            ..CallOptions::default()
        };
        let tools = self.pipeline.registry.snapshot();
        let spec = tools.find_called(&name).map(|it| it.tool.spec());
        let call = ToolCall { name: name.clone(), input: Value::Object(arguments) };
        let output = self.pipeline.call_arrived(arrival, call, options).await;
        answer(self.structured_content.sent(output, spec))
    }
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<ToldTool> {
        let tools = self.pipeline.registry.snapshot();
        self.definitions(&tools).all().map(told).collect()
    }

    fn find(&self, name: &str) -> Option<ToldTool> {
        let tools = self.pipeline.registry.snapshot();
        tools.find(name).map(|entry| told(self.definitions(&tools).of(entry)))
    }

    fn arrive(&self, name: &str) -> Box<dyn Arrived> {
        Box::new(ArrivedCall { arrival: self.pipeline.arrival(name), tools: self.clone() })
    }
}

/// A call that has been read off a client's line.
struct ArrivedCall {
    arrival: Arrival,
    tools: ServedTools,
}

impl Arrived for ArrivedCall {
    fn call(self: Box<Self>, call: Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        let Self { arrival, tools } = *self;
        Box::pin(tools.call(arrival, call))
    }
}

fn told(tool: Definition<'_>) -> ToldTool {
    let Definition { entry, description, output_schema } = tool;
    let spec = entry.tool.spec();
    let mut meta = Map::from_iter([(CLAUDE_MAX_RESULT.to_owned(), json!(500_000))]);
    if let Some(always) = always_load(entry) {
        meta.insert(CLAUDE_ALWAYS_LOAD.to_owned(), json!(always));
    }
    ToldTool {
        name: spec.name.clone(),
        title: spec.title.clone(),
        description: description.into_owned(),
        input_schema: spec.input_schema.as_object().cloned().unwrap_or_default(),
        output_schema,
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
