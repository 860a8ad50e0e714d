//! The last calls, from every client.

use axum::{extract::State, response::Response};
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use toolwright_pipeline::CallRecord;

use super::{answers::json_answer, service::ServiceState};

/// The last calls.
#[derive(Serialize, JsonSchema)]
pub(super) struct CallRecordList {
    /// Oldest first, at most 500. Recording starts when the registry is first served.
    calls: Vec<CallRecord>,
}

pub(super) async fn list(State(state): State<ServiceState>) -> Response {
    let calls = state.registry.pipeline.records.last();
    json_answer(StatusCode::OK, &CallRecordList { calls })
}
