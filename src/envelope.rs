//! How an API error crosses to JavaScript: as `{"misuse":{"type","message"}}`, which the facade throws.

use serde_json::json;
use toolwright_base::ToolError;

/// The answer of an API call that failed.
pub(super) fn misuse(error: &ToolError) -> String {
    json!({ "misuse": error }).to_string()
}

/// The answer of an API call.
pub(super) fn sealed(result: Result<String, ToolError>) -> String {
    result.unwrap_or_else(|error| misuse(&error))
}

/// The answer of an API call that returns no value.
pub(super) fn sealed_empty(result: Result<(), ToolError>) -> String {
    sealed(result.map(|()| "{}".to_owned()))
}
