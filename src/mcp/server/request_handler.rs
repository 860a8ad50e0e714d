//! Answers the requests of one client.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, Extensions, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    ServedTools,
    client_questions::{AskingWay, CallQuestions, OpenQuestions, Question},
    era::is_new_era,
    http_sessions::{HttpSessions, KnownSession},
    pages::Page,
    served_resources::{read, resources, templates},
    tool_changes::tell_changes,
};
use crate::{
    confirm::SharedBus,
    pipeline::Arrival,
    tool::{Progress, ProgressSink},
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

/// The header in which a client over HTTP names its session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The server of one client, or of all over HTTP.
#[derive(Clone)]
pub(super) struct McpServer {
    client: Client,
    /// The sessions of clients over HTTP.
    sessions: Option<Arc<HttpSessions>>,
    questions: Arc<OpenQuestions>,
}

/// Who sent a request.
#[derive(Clone)]
struct Client {
    tools: ServedTools,
    /// Cancelled when the client has disconnected.
    disconnected: CancellationToken,
    /// Set once the client is told of changes.
    is_told: Arc<AtomicBool>,
}

impl McpServer {
    /// The server of one client.
    pub(super) fn of_one_client(tools: ServedTools, disconnected: CancellationToken) -> Self {
        let client = Client { tools, disconnected, is_told: Arc::default() };
        Self { client, sessions: None, questions: Arc::default() }
    }

    /// The server of all clients over HTTP. Those without a session share the one of `tools`.
    pub(super) fn over_http(
        tools: ServedTools,
        sessions: Arc<HttpSessions>,
        closing: CancellationToken,
    ) -> Self {
        let client = Client { tools, disconnected: closing, is_told: Arc::default() };
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
        let parts = message.get::<http::request::Parts>();
        let id = parts.and_then(|it| it.headers.get(SESSION_HEADER)?.to_str().ok());
        let Some(id) = id else { return Cow::Borrowed(&self.client) };
        let session = sessions.find(id).unwrap_or_else(|| {
            // It has ended since the message came in.
            let ended = CancellationToken::new();
            ended.cancel();
            KnownSession { name: String::new(), ended, is_told: Arc::default() }
        });
        let KnownSession { name, ended: disconnected, is_told } = session;
        Cow::Owned(Client { tools: self.client.tools.of_session(name), disconnected, is_told })
    }
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
        let Client { tools, disconnected, is_told } =
            self.client_of(&context.extensions).into_owned();
        if is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        let peer = context.peer;
        tokio::spawn(tell_changes(tools.changes(), disconnected, move || {
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
        let told = tell_changes(tools.changes(), disconnected.clone(), || {
            sink.notify_tool_list_changed()
        });
        tokio::select! {
            () = told => {}
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
        let page = Page::of(tools, |it| &*it.name, request.as_ref())?;
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
        if tools.find(&request.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("no tool is named `{}`", request.name),
                None,
            ));
        }
        let way = AskingWay::of(&context);
        let given = match way {
            Some(AskingWay::Round) => self.questions.take(&request)?,
            _ => None,
        };
        let cancel = disconnected.child_token();
        let (progress, forwarding) = forwarded_progress(&context);
        let arrival = context.extensions.get::<KeptArrival>().and_then(KeptArrival::take);
        let arrival = arrival.unwrap_or_else(|| tools.arrival(&request.name));
        let meta = &context.meta.0;
        let mut questions = way.map(|_| CallQuestions::new());
        let bus = questions.as_ref().map(|it| SharedBus::clone(&it.bus));
        let run = tools.call(arrival, request, meta, cancel.clone(), progress, bus);
        tokio::pin!(run);
        let result = loop {
            let question = tokio::select! {
                result = &mut run => break result,
                () = context.ct.cancelled() => {
                    cancel.cancel();
                    break run.await;
                }
                question = next_question(questions.as_mut()) => question,
            };
            let Some(questions) = &mut questions else { continue };
            if way == Some(AskingWay::Request) {
                tokio::select! {
                    result = &mut run => break result,
                    () = context.ct.cancelled() => {
                        cancel.cancel();
                        break run.await;
                    }
                    () = questions.ask(&question, &context.peer) => {}
                }
            } else if let Some(answer) = given.as_ref().and_then(|it| it.to(&question)) {
                questions.respond(&question, answer);
            } else {
                let asked = self.questions.put(&question, tools.question_time())?;
                // Nothing has run yet. The client calls again with the answer.
                cancel.cancel();
                drop(run.await);
                return Ok(CallToolResponse::InputRequired(asked));
            }
        };
        // Progress must not come after the result it belongs to.
        if let Some(forwarding) = forwarding {
            drop(forwarding.await);
        }
        Ok(CallToolResponse::Complete(result))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = resources(&self.client(&context).tools);
        let page = Page::of(resources, |it| &it.uri, request.as_ref())?;
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
        let page = Page::of(templates(), |it| &it.uri_template, request.as_ref())?;
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

/// The next question of a call; never, if its client cannot ask.
async fn next_question(questions: Option<&mut CallQuestions>) -> Question {
    match questions {
        Some(questions) => questions.next().await,
        None => std::future::pending().await,
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
