//! Answers requests, from whatever door they come.

use std::{convert::Infallible, sync::Arc};

use axum::{Router, body::Body, response::Response};
use http::Request;
use tower::ServiceExt as _;

use super::{AccessRules, routes::routes};
use crate::host::HostRegistry;

/// The routes of one registry behind one set of access rules.
#[derive(Clone)]
pub struct HttpService {
    router: Router,
}

impl HttpService {
    /// The routes of a registry.
    pub fn new(registry: Arc<HostRegistry>, _access: AccessRules) -> Self {
        Self { router: routes(registry) }
    }

    /// Answers one request. Dropping the future, or the body of the answer, cancels what the request began.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let answered: Result<Response, Infallible> = self.router.clone().oneshot(request).await;
        answered.unwrap_or_else(|never| match never {})
    }
}
