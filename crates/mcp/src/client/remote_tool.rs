//! A tool of an MCP server, as a tool of the registry.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
        ProgressToken, RequestId, ServerResult, Tool,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use toolwright_base::{Access, Annotations, ErrorKind, HintsFrom, ToolError, ToolSpec, shortened};
use toolwright_core::{DynTool, ForeignInput, ForeignTool, Prepared, ToolContext, ToolOutput};

use super::{
    discovery::fingerprint,
    guarded_transport::{ForwardedProgress, ServerNews},
    remote_answer::output_of,
    server_link::{LinkSession, ServerLink, one_line, transport_words},
};
use crate::mcp_tool_name;

/// The maximum length of a description, in characters. The rest is cut.
const MAX_DESCRIPTION: usize = 20_000;

/// A tool of a server.
pub(super) struct RemoteTool {
    spec: ToolSpec,
    input: ForeignInput,
    /// Its name on the server.
    name: String,
    link: Arc<ServerLink>,
    fingerprint: Arc<str>,
}

impl RemoteTool {
    /// Makes a tool from its definition, or returns what is wrong with it.
    pub(super) fn new(tool: &Tool, link: &Arc<ServerLink>) -> Result<Self, String> {
        if tool.name.is_empty() {
            return Err("a tool without a name is left out".to_owned());
        }
        let hints = tool.annotations.as_ref();
        let annotations = Annotations {
            title: hints.and_then(|it| it.title.as_deref()).map(one_line),
            read_only_hint: hints.and_then(|it| it.read_only_hint),
            destructive_hint: hints.and_then(|it| it.destructive_hint),
            idempotent_hint: hints.and_then(|it| it.idempotent_hint),
            open_world_hint: hints.and_then(|it| it.open_world_hint),
        };
        let description = tool.description.as_deref().unwrap_or_default();
        let foreign = ForeignTool {
            name: mcp_tool_name(link.name(), &tool.name),
            title: tool.title.as_deref().map(one_line).filter(|it| !it.is_empty()),
            description: shortened(description, MAX_DESCRIPTION).into_owned(),
            input_schema: Value::Object((*tool.input_schema).clone()),
            annotations,
            hints_from: HintsFrom::McpServer,
            side_effect: None,
            output: None,
            always_load: None,
        };
        let (spec, input) = foreign
            .build()
            .map_err(|cause| format!("tool `{}` is left out: {cause}", one_line(&tool.name)))?;
        let fingerprint = fingerprint(tool);
        Ok(Self { spec, input, name: tool.name.to_string(), link: Arc::clone(link), fingerprint })
    }

    /// True when the definition has not changed.
    pub(super) fn is_same(&self, tool: &Tool) -> bool {
        *self.fingerprint == *fingerprint(tool)
    }

    /// Its name on the server.
    pub(super) fn own_name(&self) -> &str {
        &self.name
    }

    /// The name under which it is registered.
    pub(super) fn registered_name(&self) -> &str {
        &self.spec.name
    }
}

impl DynTool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn timeout(&self) -> Option<Duration> {
        self.link.setup.call_timeout
    }

    fn prepares_slowly(&self) -> bool {
        self.input.is_slow()
    }

    fn prepare(
        self: Arc<Self>,
        input: Value,
        _cx: &ToolContext,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let input = self.input.accept(&self.spec.name, input)?;
        Ok(Box::new(RemoteCall { tool: self, input }))
    }
}

struct RemoteCall {
    tool: Arc<RemoteTool>,
    input: Value,
}

#[async_trait]
impl Prepared for RemoteCall {
    fn input(&self) -> &Value {
        &self.input
    }

    fn accesses(&self) -> &[Access] {
        // Unknown: only the server knows what it accesses.
        &[]
    }

    fn description(&self) -> String {
        self.tool.spec.describe_input(&self.input)
    }

    async fn run(self: Box<Self>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Self { tool, input } = *self;
        let session = tool.link.session()?;
        let _running = tool.link.note_call(cx);
        let mut params = CallToolRequestParams::new(tool.name.clone());
        if let Value::Object(arguments) = input {
            params = params.with_arguments(arguments);
        }
        let answered = request(&session, params, cx).await;
        match answered {
            Ok(ServerResult::CallToolResult(answer)) => Ok(output_of(answer)),
            Ok(ServerResult::InputRequiredResult(_)) => Err(tool
                .failed("it asks for further input during the call, which is not supported here")),
            Ok(_) => Err(tool.failed("its answer does not follow the protocol")),
            Err(ServiceError::McpError(error)) => {
                let code = error.code.0;
                Err(tool.failed(&format!("{} (code {code})", error.message.trim())))
            }
            Err(ServiceError::Cancelled { .. }) => Err(ToolError::cancelled()),
            Err(ServiceError::TransportClosed) => Err(tool.link.broke_off(&session).await),
            Err(ServiceError::TransportSend(error)) => {
                // Over HTTP a request can fail without the connection having been closed.
                let cause = transport_words(&*error.error);
                session.loss.report(&cause);
                let name = tool.link.name();
                let message = format!("MCP server `{name}` could not be reached: {cause}");
                Err(ToolError::new(ErrorKind::McpServer, message))
            }
            Err(error) => Err(tool.failed(&one_line(&error.to_string()))),
        }
    }
}

impl RemoteTool {
    fn failed(&self, cause: &str) -> ToolError {
        let (server, tool) = (self.link.name(), &self.name);
        let message = format!("tool `{tool}` of MCP server `{server}` failed: {cause}");
        ToolError::new(ErrorKind::ToolFailed, message)
    }
}

/// Sends the call to the server and waits for its answer. Dropping the future sends a cancellation.
async fn request(
    session: &LinkSession,
    params: CallToolRequestParams,
    cx: &ToolContext,
) -> Result<ServerResult, ServiceError> {
    let mut request = CallToolRequest::new(params);
    if cx.progress.is_watched() {
        request.extensions.insert(ForwardedProgress(cx.progress.clone()));
    }
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    let handle = session.peer.send_request_with_option(request, options).await?;
    let mut asked = AskedServer {
        peer: session.peer.clone(),
        news: Arc::clone(&session.news),
        id: Some(handle.id.clone()),
        token: handle.progress_token.clone(),
    };
    let answered = handle.await_response().await;
    asked.id = None;
    answered
}

/// A request that the server has not answered yet.
struct AskedServer {
    peer: Peer<RoleClient>,
    news: Arc<ServerNews>,
    /// `None` once it is answered.
    id: Option<RequestId>,
    token: ProgressToken,
}

impl Drop for AskedServer {
    fn drop(&mut self) {
        self.news.forget(&self.token);
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the call was cancelled".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            // Fails if the connection has ended, where no cancellation is needed.
            let _ = peer.notify_cancelled(params).await;
        });
    }
}
