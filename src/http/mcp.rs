//! The Model Context Protocol.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};

use crate::host::HostRegistry;

/// Hands a request to the MCP server. It answers in the protocol's own forms.
pub(super) async fn mcp(State(registry): State<Arc<HostRegistry>>, request: Request) -> Response {
    registry.http_door().answer(request).await.map(Body::new)
}
