//! The tools that one client may list and call, in the protocol's types.

use std::{borrow::Cow, sync::Arc, time::Duration};

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, MetaObject, Tool};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_core::{Content, Entry, ProgressSink, Snapshot, ToolOutput, ToolSource};
use toolwright_pipeline::{
    Arrival, CallOptions, Definition, Definitions, Pipeline, SharedBus, StructuredContent, ToolCall,
};
use toolwright_process::Task;

/// The key under which Claude's hosts send the id of the call.
const CLAUDE_TOOL_USE_ID: &str = "claudecode/toolUseId";
/// The maximum size of our results, for Claude's hosts. By default they move results of more than 50,000
/// characters to a file. Our results are already limited and say what was left out.
const CLAUDE_MAX_RESULT: &str = "anthropic/maxResultSizeChars";
/// Whether a tool is in every request to the model, for Claude's hosts. By default they include only their own
/// tools. The model would have to search for the others, and would use the built-in ones instead.
const CLAUDE_ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// How the server identifies itself.
#[derive(Clone, Debug)]
pub struct ServerIdentity {
    /// Its name, which clients make part of the tools' names.
    pub name: String,
    /// Its version, which clients show.
    pub version: String,
    /// Instructions for the client's model about all the tools.
    pub instructions: Option<String>,
}

/// One client's view of the registry.
#[derive(Clone)]
pub struct ServedTools {
    pipeline: Arc<Pipeline>,
    identity: ServerIdentity,
    session_id: String,
    structured_content: StructuredContent,
}

impl ServedTools {
    /// The tools for a client whose calls belong to one session.
    pub fn new(
        pipeline: Arc<Pipeline>,
        identity: ServerIdentity,
        session_id: String,
        structured_content: StructuredContent,
    ) -> Self {
        Self { pipeline, identity, session_id, structured_content }
    }

    /// The same tools for a client of another session.
    pub(super) fn of_session(&self, session_id: String) -> Self {
        Self { session_id, ..self.clone() }
    }

    /// The identity. The workspace is added to the instructions.
    pub(super) fn identity(&self) -> ServerIdentity {
        let identity = self.identity.clone();
        let tools = self.pipeline.registry.snapshot();
        let definitions = self.definitions(&tools);
        let words = identity.instructions.as_deref().filter(|it| !it.is_empty());
        let instructions: Vec<&str> = words.into_iter().chain(definitions.workspace()).collect();
        ServerIdentity {
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
            ..identity
        }
    }

    /// All enabled tools, by name.
    pub(super) fn list(&self) -> Vec<Tool> {
        let tools = self.pipeline.registry.snapshot();
        let is_offered = |it: &Definition| {
            self.pipeline.offers(Some(&self.session_id), &it.entry.tool.spec().name)
        };
        self.definitions(&tools).all().filter(is_offered).map(listed).collect()
    }

    /// True if a tool has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.pipeline.registry.snapshot().find(name).is_some()
    }

    /// The tool with this name.
    pub(super) fn find(&self, name: &str) -> Option<Tool> {
        let tools = self.pipeline.registry.snapshot();
        tools.find(name).map(|entry| listed(self.definitions(&tools).of(entry)))
    }

    /// The commands whose output the client may read.
    pub(super) fn outputs(&self) -> Vec<Arc<Task>> {
        self.pipeline.sessions.tasks().outputs_of(&self.session_id)
    }

    /// Changes whenever the tools change.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.pipeline.registry.changes()
    }

    /// How long a person has to answer a question.
    pub(super) fn question_time(&self) -> Duration {
        Duration::from_millis(u64::from(self.pipeline.limits.confirmation_timeout_ms))
    }

    /// Records that a call has arrived, in the order in which the client sent its calls.
    pub(super) fn arrival(&self, name: &str) -> Arrival {
        self.pipeline.arrival(name)
    }

    /// Runs a call. A failure is also a result.
    pub(super) async fn call(
        &self,
        arrival: Arrival,
        request: CallToolRequestParams,
        meta: &Map<String, Value>,
        cancel: CancellationToken,
        progress: ProgressSink,
        bus: Option<SharedBus>,
    ) -> CallToolResult {
        let options = CallOptions {
            tool_use_id: meta.get(CLAUDE_TOOL_USE_ID).and_then(Value::as_str).map(str::to_owned),
            session_id: Some(self.session_id.clone()),
            cancel,
            progress,
            bus,
            ..CallOptions::default()
        };
        let tools = self.pipeline.registry.snapshot();
        let name = request.name.into_owned();
        let input = Value::Object(request.arguments.unwrap_or_default());
        let call = ToolCall { name: name.clone(), input };
        let output = self.pipeline.call_arrived(arrival, call, options).await;
        result(self.structured_content.sent(output, &tools, &name))
    }

    fn definitions<'a>(&self, tools: &'a Snapshot) -> Definitions<'a> {
        Definitions::new(tools, self.pipeline.sessions.roots(), self.structured_content)
    }
}

fn listed(tool: Definition<'_>) -> Tool {
    let Definition { entry, description, output_schema } = tool;
    let spec = entry.tool.spec();
    let mut meta = Map::from_iter([(CLAUDE_MAX_RESULT.to_owned(), json!(500_000))]);
    if let Some(always) = always_load(entry) {
        meta.insert(CLAUDE_ALWAYS_LOAD.to_owned(), json!(always));
    }
    let input_schema = spec.input_schema.as_object().cloned().unwrap_or_default();
    let description = Cow::Owned(description.into_owned());
    let mut listed = Tool::new(Cow::Owned(spec.name.clone()), description, Arc::new(input_schema));
    listed.title = Some(spec.title.clone());
    listed.output_schema = output_schema.map(Arc::new);
    listed.annotations = serde_json::from_value(json!(spec.annotations)).ok();
    listed.meta = Some(MetaObject::from(meta));
    listed
}

/// Whether a tool is in every request to the model. `None` leaves the decision to the client. The default is true,
/// except for tools of other MCP servers, of which there may be hundreds.
fn always_load(entry: &Entry) -> Option<bool> {
    entry.tool.spec().always_load.or(match entry.source {
        ToolSource::Builtin(_) | ToolSource::Host | ToolSource::Plugin { .. } => Some(true),
        ToolSource::Mcp { .. } => None,
    })
}

fn result(output: ToolOutput) -> CallToolResult {
    let mut meta = output.meta;
    if let Some(error) = &output.error {
        // The content is for the model. The metadata are for the client's program and its user.
        let mut facts = json!({ "type": error.kind });
        if let (Some(details), Value::Object(facts)) = (&error.details, &mut facts) {
            facts.insert("details".to_owned(), json!(details));
        }
        meta.insert("toolwright/error".to_owned(), facts);
    }
    let content = output.content.into_iter().map(content_block).collect();
    let mut result = match output.error {
        Some(_) => CallToolResult::error(content),
        None => CallToolResult::success(content),
    };
    result.structured_content = output.structured.map(|it| it.value());
    result.meta = (!meta.is_empty()).then(|| MetaObject::from(meta));
    result
}

fn content_block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime_type } => ContentBlock::image(data, mime_type),
        Content::Other(block) => {
            let block = Value::Object(block);
            serde_json::from_value(block.clone())
                .unwrap_or_else(|_| ContentBlock::text(block.to_string()))
        }
    }
}
