//! The Model Context Protocol.

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};

use super::service::ServiceState;

/// Hands a request to the MCP server. It answers in the protocol's own forms.
pub(super) async fn answer(State(state): State<ServiceState>, request: Request) -> Response {
    state.registry.http_door().answer(request).await.map(Body::new)
}
