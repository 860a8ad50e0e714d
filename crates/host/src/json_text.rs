//! Parses JSON texts of the host, with errors that the author of a host understands.

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{InputValidator, check_input_size, derived_schema};

/// Parses a text.
pub fn parsed<'a, T: Deserialize<'a>>(json: &'a str, kind: ErrorKind) -> Result<T, ToolError> {
    serde_json::from_str(json).map_err(|err| ToolError::new(kind, plain_cause(&err)))
}

/// Parses the input of a tool, after checking its size.
pub fn parsed_input(json: &str) -> Result<Value, ToolError> {
    check_input_size(json)?;
    parsed(json, ErrorKind::Validation)
}

/// Parses a text and checks it against the schema of its type. Errors name the invalid field.
pub fn validated<T: DeserializeOwned + JsonSchema>(
    json: &str,
    noun: &'static str,
    kind: ErrorKind,
) -> Result<T, ToolError> {
    let wrong = |message| ToolError::new(kind, message);
    let validator = InputValidator::new(&derived_schema::<T>())
        .map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))?;
    let value = parsed(json, kind)?;
    let value = validator.naming(noun).accept(value).map_err(|err| wrong(err.message))?;
    serde_json::from_value(value).map_err(|err| wrong(plain_cause(&err)))
}

/// serde's message without the position, because the caller has never seen the text.
pub(super) fn plain_cause(err: &serde_json::Error) -> String {
    let text = err.to_string();
    let cause = text.split(" at line ").next().unwrap_or(&text);
    match cause {
        "recursion limit exceeded" => "the value nests deeper than 127 levels".to_owned(),
        // JSON can escape half of a surrogate pair. That is not a character, and replacing it could make two
        // different names equal.
        it if it.contains("surrogate") || it.contains("hex escape") => {
            "a string contains half of a UTF-16 surrogate pair, which is not a character".to_owned()
        }
        it => it.to_owned(),
    }
}
