//! The table of routes.

use std::sync::Arc;

use axum::{Json, Router, routing::{any, get}};
use http::StatusCode;
use serde_json::{Value, json};

use super::{answers::refused, mcp::mcp};
use crate::host::HostRegistry;

/// Every route of a registry.
pub(super) fn routes(registry: Arc<HostRegistry>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/mcp", any(mcp))
        .fallback(async || refused(StatusCode::NOT_FOUND, "no such page; see /openapi.json"))
        .with_state(registry)
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}
