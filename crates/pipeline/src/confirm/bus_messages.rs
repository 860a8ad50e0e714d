//! The messages of the bus: requests and their outcomes for the listeners, and the listeners' answers.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_base::{ErrorKind, ToolError};

/// An event for the listeners, which show requests to a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum BusEvent {
    /// A request that waits for an answer.
    Request {
        /// The id that the answer must name.
        id: String,
        /// The tool, its input and the other details to show to the person.
        details: Arc<Value>,
        /// How long it waits, in milliseconds.
        timeout: u64,
    },
    /// A request that has ended and needs no answer.
    Settled {
        /// The id of the request.
        id: String,
        /// How it ended.
        outcome: RequestOutcome,
    },
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequestOutcome {
    /// A person approved it.
    Approved,
    /// A person denied it.
    Denied,
    /// There was no answer in time.
    Timeout,
    /// The call that asked was cancelled.
    Cancelled,
}

impl RequestOutcome {
    /// Its name, as it is serialized.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The answer to a request. The call may run only with `approved: true`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfirmationAnswer {
    /// True when the call may run.
    #[serde(deserialize_with = "exactly_true")]
    pub approved: bool,
    /// Why the call may not run, written for the model.
    pub message: Option<String>,
    /// The input to run the call with, if it replaces the original.
    pub updated_input: Option<Value>,
    /// True when calls like this one need no confirmation from now on.
    #[serde(deserialize_with = "exactly_true")]
    pub always_allow: bool,
    /// True when the answer ends the whole turn, not only this call.
    #[serde(deserialize_with = "exactly_true")]
    pub interrupt: bool,
}

/// Reads a boolean. Other values, such as `"true"` and `1`, count as false.
fn exactly_true<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)? == Value::Bool(true))
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// There is no listener, or it failed; the text says which.
    NoListener(String),
    /// There was no answer within this time.
    Timeout(Duration),
    /// The call that asked was cancelled.
    Cancelled,
}

impl Unanswered {
    /// The error of a request that the host itself sent, not a call.
    pub fn error(&self) -> ToolError {
        match self {
            Self::NoListener(reason) => ToolError::new(
                ErrorKind::PolicyDenied,
                format!(
                    "the confirmation request is refused: {reason}; listen with bus.on(\"request\", …)"
                ),
            ),
            Self::Timeout(after) => ToolError::new(
                ErrorKind::ConfirmationTimeout,
                format!(
                    "the confirmation request was not answered within {} ms",
                    after.as_millis()
                ),
            ),
            Self::Cancelled => {
                ToolError::new(ErrorKind::Cancelled, "the confirmation request was cancelled")
            }
        }
    }
}

/// A request that waits for an answer, as `waiting` lists it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingRequest {
    /// The id that the answer must name.
    pub id: String,
    /// The tool, its input and the other details to show to the person.
    pub details: Arc<Value>,
    /// When it was asked and when it expires.
    #[serde(flatten)]
    pub span: RequestSpan,
}

/// When a request was asked and when it expires, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestSpan {
    /// When it was asked.
    pub asked_at: u64,
    /// When it counts as refused, if it has no answer by then.
    pub expires_at: u64,
}
