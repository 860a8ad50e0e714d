//! Answers MCP clients from the registry, over whatever carries the messages.

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ErrorCode, Implementation, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    pipeline::{CallOptions, Pipeline, ToolCall},
    tool::{Content, Progress, ProgressSink, ToolOutput, ToolSpec},
};

/// Where Claude's hosts put the id of the call.
const CLAUDE_TOOL_USE_ID: &str = "claudecode/toolUseId";
/// Tells Claude's hosts how large our answers may be; beyond 50,000 characters they would move them to
/// a file, though ours say themselves what they left out.
const CLAUDE_MAX_RESULT: &str = "anthropic/maxResultSizeChars";

/// The methods we answer.
const KNOWN_METHODS: [&str; 5] =
    ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// What the server says of itself.
#[derive(Clone, Debug)]
pub struct ServerIdentity {
    /// Its name, which is part of the tools' names on the client's side.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a client's model is told about the tools as a whole.
    pub instructions: Option<String>,
}

/// One client's view of the registry.
#[derive(Clone)]
pub struct McpServer {
    pipeline: Arc<Pipeline>,
    identity: ServerIdentity,
    session_id: String,
    gone: CancellationToken,
}

impl McpServer {
    /// A server for one client; `gone` is cancelled when the client is no longer there.
    pub fn new(
        pipeline: Arc<Pipeline>,
        identity: ServerIdentity,
        session_id: String,
        gone: CancellationToken,
    ) -> Self {
        Self { pipeline, identity, session_id, gone }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info =
            Implementation::new(self.identity.name.clone(), self.identity.version.clone());
        info.instructions.clone_from(&self.identity.instructions);
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.pipeline.registry.snapshot();
        Ok(ListToolsResult {
            tools: tools.enabled().map(|entry| definition(entry.tool.spec())).collect(),
            ..ListToolsResult::default()
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.pipeline.registry.snapshot().find(&request.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("no tool is named `{}`", request.name),
                None,
            ));
        }
        let cancel = self.gone.child_token();
        let tool_use_id =
            context.meta.get(CLAUDE_TOOL_USE_ID).and_then(Value::as_str).map(str::to_owned);
        let (progress, forwarding) = progress(&context);
        let options = CallOptions {
            tool_use_id,
            session_id: Some(self.session_id.clone()),
            cancel: cancel.clone(),
            progress,
            ..CallOptions::default()
        };
        let input = Value::Object(request.arguments.unwrap_or_default());
        let call = ToolCall { name: request.name.into_owned(), input };
        let run = async {
            let output = self.pipeline.call(call, options).await;
            // Progress must not come after the answer it belongs to.
            forwarding.await;
            output
        };
        tokio::pin!(run);
        let output = tokio::select! {
            output = &mut run => output,
            () = context.ct.cancelled() => {
                cancel.cancel();
                run.await
            }
        };
        Ok(CallToolResponse::Complete(result(output)))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // rmcp takes a known request whose params do not fit for one of a method it does not know.
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the params of `{method}` do not fit"), None)
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("no method is named `{method}`"),
                None,
            )
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.pipeline.registry.snapshot().find(name).map(|entry| definition(entry.tool.spec()))
    }
}

/// A sink, and a future that sends what goes in until the sink is dropped.
fn progress(
    context: &RequestContext<RoleServer>,
) -> (ProgressSink, impl Future<Output = ()> + Send + use<>) {
    let (sender, mut steps) = mpsc::unbounded_channel();
    let token = context.meta.get_progress_token();
    let sink = match &token {
        Some(_) => ProgressSink::new(move |progress| drop(sender.send(progress))),
        None => ProgressSink::default(),
    };
    let peer = context.peer.clone();
    let task = tokio::spawn(async move {
        let Some(token) = token else { return };
        while let Some(news) = steps.recv().await {
            let Progress::Step { progress, total, message } = news else { continue };
            let mut step = ProgressNotificationParam::new(token.clone(), progress);
            step.total = total;
            step.message = message;
            if peer.notify_progress(step).await.is_err() {
                return;
            }
        }
    });
    (sink, async move { drop(task.await) })
}

fn definition(spec: &ToolSpec) -> Tool {
    let schema = spec.input_schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(
        Cow::Owned(spec.name.clone()),
        Cow::Owned(spec.description.clone()),
        Arc::new(schema),
    );
    tool.title = Some(spec.title.clone());
    tool.annotations =
        serde_json::to_value(&spec.annotations).and_then(serde_json::from_value).ok();
    let meta = Map::from_iter([(CLAUDE_MAX_RESULT.to_owned(), json!(500_000))]);
    tool.meta = Some(MetaObject::from(meta));
    tool
}

fn result(output: ToolOutput) -> CallToolResult {
    let content = output.content.into_iter().map(block).collect();
    let mut meta = output.meta;
    let mut result = match output.error {
        Some(error) => {
            meta.insert("toolwright/error".to_owned(), json!({ "type": error.kind }));
            CallToolResult::error(content)
        }
        None => CallToolResult::success(content),
    };
    result.structured_content = output.structured;
    result.meta = (!meta.is_empty()).then(|| MetaObject::from(meta));
    result
}

fn block(content: Content) -> ContentBlock {
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
