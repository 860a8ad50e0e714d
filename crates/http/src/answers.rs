//! Responses: JSON, and refusals with a cause.

use std::borrow::Cow;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::{ErrorKind, ToolError};

/// A request that was refused or failed. As JSON it is `{ "error": "…", "type": "…" }`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HttpRefusal {
    #[serde(skip)]
    pub(super) status: StatusCode,
    /// What is wrong, with the value, and what to do about it.
    error: String,
    /// A stable name of the cause, for programs.
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
}

impl HttpRefusal {
    /// A refusal with a status, a stable name of the cause, and a message.
    pub(super) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, error: message.into(), kind: kind.into() }
    }

    /// The refusal of a request for something that does not exist.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// The refusal of an invalid body.
    pub(super) fn bad_body(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "InvalidBody", message)
    }
}

impl From<ToolError> for HttpRefusal {
    /// An error that the API of the registry would throw.
    fn from(error: ToolError) -> Self {
        let status = match error.kind {
            ErrorKind::UnknownTool | ErrorKind::TaskNotFound => StatusCode::NOT_FOUND,
            ErrorKind::RegistryClosed => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.kind.as_str(), error.message)
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        let mut response = json_answer(self.status, &self);
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// A value as JSON.
pub(super) fn json_answer(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => json_text_answer(status, text),
        Err(err) => {
            let message = format!("the answer cannot be written as JSON: {err}");
            let text = serde_json::json!({ "error": message, "type": "InternalError" }).to_string();
            json_text_answer(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

/// A text that is JSON already.
pub(super) fn json_text_answer(status: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(text.into()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
