//! Answers the requests of one client.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, Implementation, ListPromptsResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{ServedTools, http_sessions::HttpSessions};
use crate::{
    pipeline::Arrival,
    tool::{Progress, ProgressSink},
};

/// The methods that the server answers.
const KNOWN_METHODS: [&str; 5] =
    ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// The header in which a client over HTTP names its session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The server of one client, or of all over HTTP.
#[derive(Clone)]
pub(super) struct McpServer {
    client: Client,
    /// The sessions of clients over HTTP.
    sessions: Option<Arc<HttpSessions>>,
}

/// Who sent a request.
#[derive(Clone)]
struct Client {
    tools: ServedTools,
    /// Cancelled when the client has disconnected.
    disconnected: CancellationToken,
}

impl McpServer {
    /// The server of one client.
    pub(super) fn of_one_client(tools: ServedTools, disconnected: CancellationToken) -> Self {
        Self { client: Client { tools, disconnected }, sessions: None }
    }

    /// The server of all clients over HTTP. Those without a session share the one of `tools`.
    pub(super) fn over_http(
        tools: ServedTools,
        sessions: Arc<HttpSessions>,
        closing: CancellationToken,
    ) -> Self {
        let client = Client { tools, disconnected: closing };
        Self { client, sessions: Some(sessions) }
    }

    /// The client that sent a request.
    fn client(&self, context: &RequestContext<RoleServer>) -> Cow<'_, Client> {
        let Some(sessions) = &self.sessions else { return Cow::Borrowed(&self.client) };
        let parts = context.extensions.get::<http::request::Parts>();
        let id = parts.and_then(|it| it.headers.get(SESSION_HEADER)?.to_str().ok());
        let Some(id) = id.filter(|_| !is_new_era(context)) else {
            return Cow::Borrowed(&self.client);
        };
        let (name, disconnected) = sessions.find(id).unwrap_or_else(|| {
            // It has ended since the request came in.
            let ended = CancellationToken::new();
            ended.cancel();
            (String::new(), ended)
        });
        Cow::Owned(Client { tools: self.client.tools.of_session(name), disconnected })
    }
}

/// Whether a request is of the protocol of 2026-07-28 or later, which has no sessions.
fn is_new_era(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The answer to a method that is not served.
fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method is named `{method}`"), None)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let identity = self.client.tools.identity();
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new(identity.name, identity.version);
        info.instructions = identity.instructions;
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = self.client(&context);
        Ok(ListToolsResult { tools: client.tools.list(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&context);
        let Client { tools, disconnected } = &*client;
        if tools.find(&request.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("no tool is named `{}`", request.name),
                None,
            ));
        }
        let cancel = disconnected.child_token();
        let (progress, forwarding) = forwarded_progress(&context);
        let arrival = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
        let arrival = arrival.unwrap_or_else(|| tools.arrival(&request.name));
        let meta = &context.meta.0;
        let run = tools.call(arrival, request, meta, cancel.clone(), progress);
        tokio::pin!(run);
        let result = tokio::select! {
            result = &mut run => result,
            () = context.ct.cancelled() => {
                cancel.cancel();
                run.await
            }
        };
        // Progress must not come after the result it belongs to.
        if let Some(forwarding) = forwarding {
            drop(forwarding.await);
        }
        Ok(CallToolResponse::Complete(result))
    }

    /// There are no prompts, and nothing to complete. rmcp would answer with empty lists.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(unknown_method("prompts/list"))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unknown_method("completion/complete"))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // rmcp treats a known request with unfitting params as a request of an unknown method.
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the params of `{method}` do not fit"), None)
        } else {
            unknown_method(&method)
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.client.tools.find(name)
    }
}

/// The arrival of a call, on its way from the connection to the task that answers the call.
#[derive(Clone)]
pub(super) struct KeptArrival(Arc<Mutex<Option<Arrival>>>);

impl KeptArrival {
    pub(super) fn new(arrival: Arrival) -> Self {
        Self(Arc::new(Mutex::new(Some(arrival))))
    }

    fn take(&self) -> Option<Arrival> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Takes the progress of a call, and the task that forwards it to a client that asked for it. The task ends
/// when the call drops the sink.
fn forwarded_progress(
    context: &RequestContext<RoleServer>,
) -> (ProgressSink, Option<JoinHandle<()>>) {
    let Some(token) = context.meta.get_progress_token() else {
        return (ProgressSink::default(), None);
    };
    let (sender, mut steps) = mpsc::unbounded_channel();
    let sink = ProgressSink::new(move |news| {
        if let Progress::Step { progress, total, message } = news {
            let mut step = ProgressNotificationParam::new(token.clone(), progress);
            step.total = total;
            step.message = message;
            // A client that has disconnected needs no progress.
            drop(sender.send(step));
        }
    });
    let peer = context.peer.clone();
    let forwarding = tokio::spawn(async move {
        while let Some(step) = steps.recv().await {
            if peer.notify_progress(step).await.is_err() {
                return;
            }
        }
    });
    (sink, Some(forwarding))
}
