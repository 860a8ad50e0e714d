//! How a misuse of the API crosses: as `{"misuse":{"type","message"}}`, which the facade throws.

use serde_json::json;

use crate::error::ToolError;

/// The text of a failed API call.
pub(super) fn misuse(error: &ToolError) -> String {
    json!({ "misuse": error }).to_string()
}

/// The text of an API call.
pub(super) fn sealed(result: Result<String, ToolError>) -> String {
    result.unwrap_or_else(|error| misuse(&error))
}

/// The text of an API call that answers with nothing.
pub(super) fn sealed_empty(result: Result<(), ToolError>) -> String {
    sealed(result.map(|()| "{}".to_owned()))
}
