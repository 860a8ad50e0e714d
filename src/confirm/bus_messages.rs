//! What travels over the message bus: requests and their ends to the listeners, answers from them.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the listeners, who show requests to people, are told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum BusEvent {
    /// A request that waits for an answer.
    Request {
        /// The id that the answer has to name.
        id: String,
        /// The tool, its input and whatever else the person is shown.
        details: Arc<Value>,
        /// How long it waits, in milliseconds.
        timeout: u64,
    },
    /// A request that no longer needs an answer.
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
    /// Somebody said yes.
    Approved,
    /// Somebody said no.
    Denied,
    /// Nobody answered in time.
    Timeout,
    /// The call that asked was cancelled.
    Cancelled,
}

impl RequestOutcome {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What somebody answered. Only `approved: true` is a yes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfirmationAnswer {
    /// True when the call may run.
    #[serde(deserialize_with = "exactly_true")]
    pub approved: bool,
    /// Why the call may not run, in words for the model.
    pub message: Option<String>,
    /// An input to run the call with instead.
    pub updated_input: Option<Value>,
    /// True when calls like this one are not to be asked about again.
    #[serde(deserialize_with = "exactly_true")]
    pub always_allow: bool,
    /// True when the whole turn ends, and not this call alone.
    #[serde(deserialize_with = "exactly_true")]
    pub interrupt: bool,
}

/// Reads a boolean. `"true"`, `1` and the like count as false.
fn exactly_true<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)? == Value::Bool(true))
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// There is no listener, or it failed; the text says which.
    NoListener(String),
    /// Nobody answered within this time.
    Timeout(Duration),
    /// The call that asked was cancelled.
    Cancelled,
}

/// A request that waits for an answer, as it is listed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingRequest {
    /// The id that the answer has to name.
    pub id: String,
    /// The tool, its input and whatever else the person is shown.
    pub details: Arc<Value>,
    /// From when until when it waits.
    #[serde(flatten)]
    pub span: RequestSpan,
}

/// From when until when a request waits, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestSpan {
    /// When it was asked.
    pub asked_at: u64,
    /// When it counts as refused, if nobody has answered.
    pub expires_at: u64,
}
