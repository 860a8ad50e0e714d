//! The last calls, whichever way they came.

use axum::{extract::State, response::Response};
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::{answers::json_answer, service::ServiceState};
use crate::pipeline::CallRecord;

/// The last calls.
#[derive(Serialize, JsonSchema)]
pub(super) struct CallRecordList {
    /// Oldest first, at most 500, since the registry is served.
    calls: Vec<CallRecord>,
}

pub(super) async fn list(State(state): State<ServiceState>) -> Response {
    let calls = state.registry.pipeline.records.last();
    json_answer(StatusCode::OK, &CallRecordList { calls })
}
