//! Answers requests, from whatever door they come.

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
use tower::ServiceExt as _;

use super::{
    AccessRules,
    access::Doorkeeper,
    answers::HttpRefusal,
    bodies::{BoundedBody, check_declared_size},
    routes::routes,
    tools::ToolListCache,
};
use crate::{confirm::Attendance, host::HostRegistry};

/// How many calls one service runs at a time. More wait for their turn.
pub(super) const MAX_CALLS: u32 = 1_024;

/// The routes of one registry behind one set of access rules.
#[derive(Clone)]
pub struct HttpService {
    router: Router,
    doorkeeper: Arc<Doorkeeper>,
    pub(super) state: ServiceState,
}

/// What the routes work with.
#[derive(Clone)]
pub(super) struct ServiceState {
    pub(super) registry: Arc<HostRegistry>,
    pub(super) tool_list: Arc<ToolListCache>,
    /// The turns of calls. When all are back, no call runs.
    pub(super) calls: Arc<Semaphore>,
    /// Cancelled when the service ends: streams that have no end of their own end then.
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
        // From now on what happens is recorded.
        registry.events();
        let state = ServiceState {
            registry,
            tool_list: Arc::default(),
            calls: Arc::new(Semaphore::new(MAX_CALLS as usize)),
            ending: CancellationToken::new(),
        };
        let doorkeeper = Arc::new(Doorkeeper::new(&access));
        Self { router: routes(state.clone()), doorkeeper, state }
    }

    /// Takes note that people see requests for confirmation here, and may answer them, until the value is
    /// dropped.
    pub(super) fn attend(&self) -> Attendance {
        self.state.registry.pipeline.confirmations.bus().attend()
    }

    /// Refuses a request by its head, before anything of its body is read.
    pub(super) fn check(&self, head: &Parts) -> Result<(), HttpRefusal> {
        self.doorkeeper.check(head)?;
        check_declared_size(head)
    }

    /// Answers one request. Dropping the future, or the body of the answer, cancels what the request began.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        let mut response = match self.check(&parts) {
            Ok(()) => {
                let request = Request::from_parts(parts, Body::new(BoundedBody::new(body)));
                let answered: Result<Response, Infallible> =
                    self.router.clone().oneshot(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
            Err(refusal) => refusal.into_response(),
        };
        // Nobody keeps an answer, takes it for something else, or makes it a part of another site's page.
        for (name, value) in [
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ] {
            response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
        }
        response
    }
}

/// That the server answers.
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
