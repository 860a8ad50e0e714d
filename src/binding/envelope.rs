//! How a misuse of the API crosses: as `{"misuse":{"type","message"}}`, which the facade throws.

use serde_json::json;

use crate::{
    error::{ErrorKind, ToolError},
    tool::check_input_size,
};

/// The text of a failed API call.
pub(super) fn misuse(error: &ToolError) -> String {
    json!({ "misuse": error }).to_string()
}

/// The text of an API call.
pub(super) fn sealed(result: Result<String, ToolError>) -> String {
    result.unwrap_or_else(|error| misuse(&error))
}

/// Parses what the facade sent.
pub(super) fn parsed<'a, T: serde::Deserialize<'a>>(
    json: &'a str,
    kind: ErrorKind,
) -> Result<T, ToolError> {
    serde_json::from_str(json).map_err(|err| ToolError::new(kind, plain_cause(&err)))
}

/// Parses what a tool is given.
pub(super) fn parsed_input(json: &str) -> Result<serde_json::Value, ToolError> {
    check_input_size(json)?;
    parsed(json, ErrorKind::Validation)
}

/// serde's message without its position, which counts in JSON that the caller never saw.
pub(super) fn plain_cause(err: &serde_json::Error) -> String {
    let text = err.to_string();
    let cause = text.split(" at line ").next().unwrap_or(&text);
    match cause {
        "recursion limit exceeded" => "the value nests deeper than 127 levels".to_owned(),
        // JSON escapes a lone half of a surrogate pair; it stands for no character, and two different
        // names would become one if it were replaced.
        it if it.contains("surrogate") || it.contains("hex escape") => {
            "a string holds half of a UTF-16 surrogate pair, which is no character".to_owned()
        }
        it => it.to_owned(),
    }
}
