//! The table of routes. The router and `/openapi.json` are made from it, so that neither knows a route that the
//! other does not.

use axum::{
    Router,
    extract::{FromRequestParts, Path},
    handler::Handler,
    routing::{MethodFilter, MethodRouter, any, get, on},
};
use http::{Method, StatusCode, request::Parts};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{
    answers::HttpRefusal,
    call_records, calls, confirmations, events, mcp, open_api, page,
    service::{self, ServiceState},
    tasks, tools,
};
use crate::{host::RegisteredToolInfo, pipeline::ExplainedCall, tool::ResultView};

/// Every route of a registry, in the order in which they are told.
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
            "Calls a tool. The result of a tool that failed is an answer like any other, with `isError`. With \
             `Accept: text/event-stream` the answer is a stream: events `progress`, and at last `result`",
        )
        .takes::<calls::CallBody>()
        .answers::<ResultView<'static>>()
        .streams(),
        ApiRoute::post(
            "/api/tools/{name}/explain",
            calls::explain,
            "What policy says of a call, and why. Nothing runs",
        )
        .takes::<calls::ExplainBody>()
        .answers::<ExplainedCall>(),
        ApiRoute::get("/api/calls", call_records::list, "The last 500 calls")
            .answers::<call_records::CallRecordList>(),
        ApiRoute::get(
            "/api/confirmations",
            confirmations::list,
            "The calls that a person is asked about",
        )
        .answers::<confirmations::ConfirmationList>(),
        ApiRoute::post(
            "/api/confirmations/{id}",
            confirmations::answer,
            "Answers the request of this id. The first answer counts",
        )
        .takes::<confirmations::AnswerBody>()
        .answers::<confirmations::SettledAnswer>(),
        ApiRoute::get("/api/tasks", tasks::list, "The background tasks of every session")
            .answers::<tasks::TaskList>(),
        ApiRoute::get(
            "/api/tasks/{id}/output",
            tasks::output,
            "A part of the output of a task. Reading it takes nothing from other readers",
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
            "What happens, as a stream of events: `call`, `task`, `confirmation`, `tools`, and `gap` when \
             events are gone. `Last-Event-ID` resumes",
        )
        .streams(),
    ]
}

/// One route: what it is for, and who answers.
pub(super) struct ApiRoute {
    pub(super) method: Method,
    /// With the names of its parts in braces.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// The type of the body that it takes.
    pub(super) request: Option<SchemaMaker>,
    /// The type of the body that it answers with.
    pub(super) answer: Option<SchemaMaker>,
    /// The names in its query, with what they mean.
    pub(super) query: &'static [(&'static str, &'static str)],
    /// True when it can answer with a stream of events.
    pub(super) is_stream: bool,
    handler: MethodRouter<ServiceState>,
}

/// Makes the schema of a type.
pub(super) type SchemaMaker = fn(&mut SchemaGenerator) -> Schema;

impl ApiRoute {
    /// A route that only tells something.
    pub(super) fn get<H: Handler<T, ServiceState>, T: 'static>(
        path: &'static str,
        handler: H,
        summary: &'static str,
    ) -> Self {
        Self::new(Method::GET, path, on(MethodFilter::GET, handler), summary)
    }

    /// A route that does something.
    pub(super) fn post<H: Handler<T, ServiceState>, T: 'static>(
        path: &'static str,
        handler: H,
        summary: &'static str,
    ) -> Self {
        Self::new(Method::POST, path, on(MethodFilter::POST, handler), summary)
    }

    /// A route with a method of its own.
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        handler: MethodRouter<ServiceState>,
        summary: &'static str,
    ) -> Self {
        let (request, answer, query, is_stream) = (None, None, &[], false);
        Self { method, path, summary, request, answer, query, is_stream, handler }
    }

    /// Tells the type of the body that it takes.
    pub(super) fn takes<T: JsonSchema>(mut self) -> Self {
        self.request = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Tells the type of the body that it answers with.
    pub(super) fn answers<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Tells the names in its query, with what they mean.
    pub(super) const fn queried_by(
        mut self,
        query: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.query = query;
        self
    }

    /// Tells that it answers with a stream of events.
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
        // A tool may have this name as well.
        .route("/api/tools/reload", get(tools::one_named_reload))
        // Not in the table, which is of REST: a protocol of its own, and pages for people.
        .route("/mcp", any(mcp::answer))
        .route("/", get(page::page))
        .route("/page/{name}", get(page::page_file))
        .fallback(async || {
            HttpRefusal::not_found("there is nothing at this path; see `/openapi.json`")
        })
        .method_not_allowed_fallback(async |method: Method| {
            let message = format!("`{method}` is not answered at this path; see `/openapi.json`");
            HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
        })
        .with_state(state)
}

/// The one name in the path of a route, such as that of a tool.
pub(super) struct NameInPath(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for NameInPath {
    type Rejection = HttpRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpRefusal> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(it)| Self(it))
            .map_err(|_| HttpRefusal::not_found("the path is not UTF-8; there is nothing at it"))
    }
}
