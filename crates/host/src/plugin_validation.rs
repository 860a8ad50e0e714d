//! Checks plugin definitions that a host passes as JSON text.

use serde_json::{Value, json};
use toolwright_base::ErrorKind;
use toolwright_plugins::{check_file, check_tool};

use super::parsed;

/// Checks a plugin file. Returns `{ valid, errors, config? }`.
pub fn validate_plugin_file(text: &str) -> Value {
    let checked = parsed(text, ErrorKind::Validation)
        .map_err(|err| err.message)
        .and_then(|value| check_file(&value));
    let (errors, config) = match checked {
        Ok(file) => (file.problems(), file.config()),
        Err(problem) => (vec![problem], None),
    };
    match config.filter(|_| errors.is_empty()) {
        Some(config) => json!({ "valid": true, "errors": errors, "config": config }),
        None => json!({ "valid": false, "errors": errors }),
    }
}

/// Checks the definition of one tool. Returns `{ valid, errors }`.
pub fn validate_plugin_tool(text: &str) -> Value {
    let checked = parsed(text, ErrorKind::Validation)
        .map_err(|err| vec![err.message])
        .and_then(|value| check_tool(&value));
    let errors = checked.err().unwrap_or_default();
    json!({ "valid": errors.is_empty(), "errors": errors })
}
