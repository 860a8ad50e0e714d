//! The table of routes. The router and `/openapi.json` are both built from it, so they have the same routes.

use axum::{
    Router,
    extract::{FromRequestParts, Path},
    handler::Handler,
    routing::{MethodFilter, MethodRouter, any, get, on},
};
use http::{Method, StatusCode, request::Parts};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use toolwright_core::ResultView;
use toolwright_host::RegisteredToolInfo;
use toolwright_sandbox::ExplainedCall;

use super::{
    answers::HttpRefusal,
    call_records, calls, confirmations, events, mcp, open_api, page,
    service::{self, ServiceState},
    tasks, tools,
};

/// Every route of a registry, in the order of `/openapi.json`.
pub(super) fn table() -> Vec<ApiRoute> {
    vec![
        ApiRoute::get("/health", service::health, "Whether the server answers, and its version")
            .answers::<service::Health>(),
        ApiRoute::get("/openapi.json", open_api::document, "This description"),
        ApiRoute::get("/api/tools", tools::list, "Every tool").answers::<tools::ToolList>(),
        ApiRoute::get("/api/tools/{name}", tools::one, "One tool, by its name or an alias")
            .answers::<RegisteredToolInfo>(),
        ApiRoute::post("/api/tools/reload", tools::reload, "Reads the plugin files again")
            .answers::<tools::Reloaded>(),
        ApiRoute::post(
            "/api/tools/{name}/call",
            calls::call,
            "Calls a tool. A tool that fails is also answered with status 200, with `isError` in the result. \
             With `Accept: text/event-stream` the answer is a stream: events `progress`, and finally `result`",
        )
        .takes::<calls::CallBody>()
        .answers::<ResultView<'static>>()
        .streams(),
        ApiRoute::post(
            "/api/tools/{name}/explain",
            calls::explain,
            "What policy decides for a call, and why. Nothing runs",
        )
        .takes::<calls::ExplainBody>()
        .answers::<ExplainedCall>(),
        ApiRoute::get("/api/calls", call_records::list, "The last 500 calls")
            .answers::<call_records::CallRecordList>(),
        ApiRoute::get(
            "/api/confirmations",
            confirmations::list,
            "The calls that wait for a person's confirmation",
        )
        .answers::<confirmations::ConfirmationList>(),
        ApiRoute::post(
            "/api/confirmations/{id}",
            confirmations::answer,
            "Answers the request with this id. The first answer counts",
        )
        .takes::<confirmations::AnswerBody>()
        .answers::<confirmations::SettledAnswer>(),
        ApiRoute::get("/api/tasks", tasks::list, "The background tasks of every session")
            .answers::<tasks::TaskList>(),
        ApiRoute::get(
            "/api/tasks/{id}/output",
            tasks::output,
            "A part of the output of a task. Reading does not consume it",
        )
        .queried_by(&[("offset", "where to begin, in bytes: 0, or the last `nextOffset`")])
        .answers::<tasks::TaskOutputPart>(),
        ApiRoute::post(
            "/api/tasks/{id}/stop",
            tasks::stop,
            "Stops a task with every process it started, and waits for their end",
        )
        .answers::<tasks::StoppedTask>(),
        ApiRoute::get(
            "/api/events",
            events::stream,
            "A stream of events: `call`, `task`, `confirmation`, `tools`, and `gap` when events were lost. \
             `Last-Event-ID` resumes",
        )
        .streams(),
    ]
}

/// One route, with its description and its handler.
pub(super) struct ApiRoute {
    pub(super) method: Method,
    /// With its parameters in braces.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// The type of the request body.
    pub(super) request: Option<SchemaMaker>,
    /// The type of the response body.
    pub(super) answer: Option<SchemaMaker>,
    /// The query parameters, with their descriptions.
    pub(super) query: &'static [(&'static str, &'static str)],
    /// True when it can answer with a stream of events.
    pub(super) is_stream: bool,
    handler: MethodRouter<ServiceState>,
}

/// Makes the schema of a type.
pub(super) type SchemaMaker = fn(&mut SchemaGenerator) -> Schema;

impl ApiRoute {
    /// A route that only reads.
    pub(super) fn get<H: Handler<T, ServiceState>, T: 'static>(
        path: &'static str,
        handler: H,
        summary: &'static str,
    ) -> Self {
        Self::new(Method::GET, path, on(MethodFilter::GET, handler), summary)
    }

    /// A route that has an effect.
    pub(super) fn post<H: Handler<T, ServiceState>, T: 'static>(
        path: &'static str,
        handler: H,
        summary: &'static str,
    ) -> Self {
        Self::new(Method::POST, path, on(MethodFilter::POST, handler), summary)
    }

    /// A route with the given method.
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        handler: MethodRouter<ServiceState>,
        summary: &'static str,
    ) -> Self {
        let (request, answer, query, is_stream) = (None, None, &[], false);
        Self { method, path, summary, request, answer, query, is_stream, handler }
    }

    /// Sets the type of the request body.
    pub(super) fn takes<T: JsonSchema>(mut self) -> Self {
        self.request = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Sets the type of the response body.
    pub(super) fn answers<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Sets the query parameters, with their descriptions.
    pub(super) const fn queried_by(
        mut self,
        query: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.query = query;
        self
    }

    /// Marks the route as one that can answer with a stream of events.
    pub(super) const fn streams(mut self) -> Self {
        self.is_stream = true;
        self
    }
}

/// The router of the table.
pub(super) fn routes(state: ServiceState) -> Router {
    let by_table = |router: Router<ServiceState>, it: ApiRoute| router.route(it.path, it.handler);
    table()
        .into_iter()
        .fold(Router::new(), by_table)
        // A tool may be named `reload`.
        .route("/api/tools/reload", get(tools::one_named_reload))
        // Not in the table, because they are not REST: the MCP endpoint and the web page.
        .route("/mcp", any(mcp::answer))
        .route("/", get(page::page))
        .route("/page/{name}", get(page::page_file))
        .fallback(async || {
            HttpRefusal::not_found("there is nothing at this path; see `/openapi.json`")
        })
        .method_not_allowed_fallback(async |method: Method| {
            let message = format!("`{method}` is not allowed at this path; see `/openapi.json`");
            HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
        })
        .with_state(state)
}

/// The parameter in the path of a route, such as the name of a tool.
pub(super) struct NameInPath(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for NameInPath {
    type Rejection = HttpRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpRefusal> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(it)| Self(it))
            .map_err(|_| HttpRefusal::not_found("the path is not UTF-8; there is nothing at it"))
    }
}
