//! Answers HTTP requests, whether they come from a socket or from the host's `fetch`.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json, Router,
    body::Body,
    extract::FromRef,
    response::{IntoResponse as _, Response},
};
use http::{HeaderName, HeaderValue, Request, header, request::Parts};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolwright_host::HostRegistry;
use toolwright_pipeline::Responder;
use tower::ServiceExt as _;

use super::{
    AccessRules,
    access::AccessGuard,
    answers::HttpRefusal,
    bodies::{BoundedBody, check_declared_size},
    routes::routes,
    tools::ToolListCache,
};

/// How many calls one service runs at a time. Further calls wait.
pub(super) const MAX_CALLS: u32 = 1_024;

/// The routes of one registry behind one set of access rules.
#[derive(Clone)]
pub struct HttpService {
    router: Router,
    access: Arc<AccessGuard>,
    pub(super) state: ServiceState,
}

/// The state of the routes.
#[derive(Clone)]
pub(super) struct ServiceState {
    pub(super) registry: Arc<HostRegistry>,
    pub(super) tool_list: Arc<ToolListCache>,
    /// One permit per running call. When all are returned, no call runs.
    pub(super) calls: Arc<Semaphore>,
    /// Cancelled when the service ends. Ends the streams that never end by themselves.
    pub(super) ending: CancellationToken,
}

impl FromRef<ServiceState> for Arc<HostRegistry> {
    fn from_ref(state: &ServiceState) -> Self {
        Self::clone(&state.registry)
    }
}

impl HttpService {
    /// The routes of a registry.
    #[expect(clippy::needless_pass_by_value, reason = "the token is not kept")]
    pub fn new(registry: Arc<HostRegistry>, access: AccessRules) -> Self {
        // Starts recording events.
        registry.events();
        let state = ServiceState {
            registry,
            tool_list: Arc::default(),
            calls: Arc::new(Semaphore::new(MAX_CALLS as usize)),
            ending: CancellationToken::new(),
        };
        let access = Arc::new(AccessGuard::new(&access));
        Self { router: routes(state.clone()), access, state }
    }

    /// Marks this service as a place where people can answer confirmation requests, until the value is
    /// dropped.
    pub(super) fn add_responder(&self) -> Responder {
        self.state.registry.pipeline.confirmations.bus().add_responder()
    }

    /// Checks the head of a request, before its body is read.
    pub(super) fn check(&self, head: &Parts) -> Result<(), HttpRefusal> {
        self.access.check(head)?;
        check_declared_size(head)
    }

    /// Answers one request. Dropping the future, or the body of the answer, cancels what the request started.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        with_safe_headers(match self.check(&parts) {
            Ok(()) => {
                let request = Request::from_parts(parts, Body::new(BoundedBody::new(body)));
                let answered: Result<Response, Infallible> =
                    self.router.clone().oneshot(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
            Err(refusal) => refusal.into_response(),
        })
    }
}

/// Adds headers so that the answer is not cached, not interpreted as another type, and not embedded by
/// another site.
pub(super) fn with_safe_headers(mut response: Response) -> Response {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The answer of `/health`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of toolwright.
    version: &'static str,
}

pub(super) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}
