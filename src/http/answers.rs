//! The forms of answers.

use axum::{
    Json,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use serde_json::json;

/// An error as JSON: `{ "error": "…" }`.
pub(super) fn refused(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}
