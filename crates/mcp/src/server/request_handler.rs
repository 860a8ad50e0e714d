//! Answers the requests of clients.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, Extensions, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    client_questions::OpenQuestions,
    era::is_new_era,
    http_sessions::{ClientSession, HttpSessions, MAX_CALLS},
    pages::ListPage,
    served_resources::{read, resources, templates},
    tool_calls::answered_call,
    tool_changes::notify_changes,
};

/// The methods that the server answers.
const KNOWN_METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The HTTP header with the id of the client's session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The server for one client, or for all clients over HTTP.
#[derive(Clone)]
pub(super) struct McpServer {
    client: Client,
    /// The sessions of clients over HTTP.
    sessions: Option<Arc<HttpSessions>>,
    questions: Arc<OpenQuestions>,
}

/// The client that sent a request.
#[derive(Clone)]
struct Client {
    tools: ServedTools,
    /// Cancelled when the client has disconnected.
    disconnected: CancellationToken,
    /// Set once the client is being notified of changes.
    is_notified: Arc<AtomicBool>,
}

impl McpServer {
    /// The server for one client.
    pub(super) fn of_one_client(tools: ServedTools, disconnected: CancellationToken) -> Self {
        let client = Client { tools, disconnected, is_notified: Arc::default() };
        Self { client, sessions: None, questions: Arc::default() }
    }

    /// The server for all clients over HTTP. Clients without a session share the session of `tools`.
    pub(super) fn over_http(
        tools: ServedTools,
        sessions: Arc<HttpSessions>,
        closing: CancellationToken,
    ) -> Self {
        let client = Client { tools, disconnected: closing, is_notified: Arc::default() };
        Self { client, sessions: Some(sessions), questions: Arc::default() }
    }

    /// The client that sent a request.
    fn client(&self, context: &RequestContext<RoleServer>) -> Cow<'_, Client> {
        if is_new_era(context) {
            return Cow::Borrowed(&self.client);
        }
        self.client_of(&context.extensions)
    }

    fn client_of(&self, message: &Extensions) -> Cow<'_, Client> {
        let Some(sessions) = &self.sessions else { return Cow::Borrowed(&self.client) };
        let Some(id) = session_id(message) else { return Cow::Borrowed(&self.client) };
        let session = sessions.find(id).unwrap_or_else(|| {
            // The session has ended since the message arrived.
            let ended = CancellationToken::new();
            ended.cancel();
            ClientSession { name: String::new(), ended, is_notified: Arc::default() }
        });
        let ClientSession { name, ended: disconnected, is_notified } = session;
        Cow::Owned(Client { tools: self.client.tools.of_session(name), disconnected, is_notified })
    }
}

/// The answer to a call when too many calls are running.
fn too_many_calls() -> ErrorData {
    let message = format!("{MAX_CALLS} calls are running; wait for them, or cancel some");
    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
}

/// The id of the session that a message over HTTP belongs to.
fn session_id(message: &Extensions) -> Option<&str> {
    let parts = message.get::<http::request::Parts>()?;
    parts.headers.get(SESSION_HEADER)?.to_str().ok()
}

/// The answer to a method that is not served.
fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method is named `{method}`"), None)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let identity = self.client.tools.identity();
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new(identity.name, identity.version);
        info.instructions = identity.instructions;
        info
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Client { tools, disconnected, is_notified } =
            self.client_of(&context.extensions).into_owned();
        if is_notified.swap(true, Ordering::Relaxed) {
            return;
        }
        let peer = context.peer;
        tokio::spawn(notify_changes(tools.changes(), disconnected, move || {
            let peer = peer.clone();
            async move { peer.notify_tool_list_changed().await }
        }));
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Client { tools, disconnected, .. } = &self.client;
        let sink = context.sink();
        let notifying = notify_changes(tools.changes(), disconnected.clone(), || {
            sink.notify_tool_list_changed()
        });
        tokio::select! {
            () = notifying => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.client(&context).tools.list();
        let page = ListPage::of(tools, |it| &*it.name, request.as_ref())?;
        Ok(ListToolsResult {
            tools: page.items,
            next_cursor: page.next,
            ..ListToolsResult::default()
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&context);
        let Client { tools, disconnected, .. } = &*client;
        let permit = self.sessions.as_ref().map(|it| it.begin_call().ok_or_else(too_many_calls));
        let _permit = permit.transpose()?;
        let call = answered_call(tools, disconnected, &self.questions, request, &context);
        let answered = Box::pin(call).await;
        if let (Some(sessions), Some(id)) = (&self.sessions, session_id(&context.extensions)) {
            sessions.call_is_over(id, &context.id);
        }
        answered
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = resources(&self.client(&context).tools);
        let page = ListPage::of(resources, |it| &it.uri, request.as_ref())?;
        Ok(ListResourcesResult {
            resources: page.items,
            next_cursor: page.next,
            ..ListResourcesResult::default()
        })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let page = ListPage::of(templates(), |it| &it.uri_template, request.as_ref())?;
        Ok(ListResourceTemplatesResult {
            resource_templates: page.items,
            next_cursor: page.next,
            ..ListResourceTemplatesResult::default()
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.client(&context);
        read(&client.tools, request.uri).await.map(ReadResourceResponse::Complete)
    }

    /// Prompts and completion are not supported. By default rmcp would answer with empty lists.
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
        // rmcp treats a known request with invalid params as a request of an unknown method.
        Err(if KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the params of `{method}` are invalid"), None)
        } else {
            unknown_method(&method)
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.client.tools.find(name)
    }
}
