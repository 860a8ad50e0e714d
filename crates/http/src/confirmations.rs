//! Confirmation requests: the waiting ones, and answers to them.

use axum::{extract::State, response::Response};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use toolwright_base::{SHOWN_NAME, shortened};
use toolwright_host::{parsed_input, within_bounds};
use toolwright_pipeline::{ConfirmationAnswer, WaitingRequest};

use super::{
    answers::{HttpRefusal, json_answer},
    bodies::{BodyText, read_body},
    routes::NameInPath,
    service::ServiceState,
};

/// The maximum number of listed requests, oldest first.
const MAX_LISTED: usize = 256;
/// The maximum size of one request in the list, and of the whole list. Texts in larger requests are cut.
const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The expected body, for error messages.
const BODY_FORM: &str = r#"`{ "approved": true }` or `{ "approved": false, "message": "…" }`"#;

/// The requests that wait for an answer.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConfirmationList {
    /// Oldest first. A request that is too large for the list has `cut: true`, and its texts are cut.
    #[schemars(with = "Vec<WaitingRequest>")]
    confirmations: Vec<Value>,
}

/// An answer to a request.
#[derive(Deserialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object with `approved`, which is true or false"
)]
pub(super) struct AnswerBody<'a> {
    /// True when the call may run.
    approved: bool,
    /// Why it may not, for the model.
    #[serde(default)]
    message: Option<String>,
    /// Another input to run the call with.
    #[serde(borrow, default)]
    #[schemars(with = "Option<Value>")]
    updated_input: Option<&'a RawValue>,
    /// True to allow calls like this one from now on without a confirmation.
    #[serde(default)]
    always_allow: bool,
    /// True to end the whole turn, not only this call.
    #[serde(default)]
    interrupt: bool,
}

/// Confirms that an answer was accepted.
#[derive(Serialize, JsonSchema)]
pub(super) struct SettledAnswer {
    /// Always true. An answer that comes too late gets a 404 instead.
    settled: bool,
}

pub(super) async fn list(State(state): State<ServiceState>) -> Response {
    let mut room = MAX_LIST_BYTES;
    let waiting = state.registry.pipeline.confirmations.bus().waiting(MAX_LISTED);
    let bounded = waiting.iter().map(|it| {
        let (request, bytes) = within_bounds(json!(it), room.min(MAX_REQUEST_BYTES));
        room = room.saturating_sub(bytes);
        request
    });
    json_answer(StatusCode::OK, &ConfirmationList { confirmations: bounded.collect() })
}

pub(super) async fn answer(
    State(state): State<ServiceState>,
    NameInPath(id): NameInPath,
    BodyText(body): BodyText,
) -> Result<Response, HttpRefusal> {
    let body: AnswerBody<'_> = read_body(&body, BODY_FORM)?;
    let updated_input = body.updated_input.filter(|it| it.get() != "null");
    let answer = ConfirmationAnswer {
        approved: body.approved,
        message: body.message,
        updated_input: updated_input.map(|it| parsed_input(it.get())).transpose()?,
        always_allow: body.always_allow,
        interrupt: body.interrupt,
    };
    if state.registry.pipeline.confirmations.bus().respond(&id, answer) {
        return Ok(json_answer(StatusCode::OK, &SettledAnswer { settled: true }));
    }
    let shown = shortened(&id, SHOWN_NAME);
    Err(HttpRefusal::not_found(format!(
        "no request `{shown}` waits for an answer: it was answered before, timed out or never existed; \
         `/api/confirmations` lists the waiting requests"
    )))
}
