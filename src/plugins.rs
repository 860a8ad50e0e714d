//! Checks plugin definitions for JavaScript.

use napi_derive::napi;
use serde_json::json;
use toolwright_base::ErrorKind;
use toolwright_host::parsed;
use toolwright_plugins::{check_file, check_tool, plugin_file_schema};

/// Checks a plugin file. Returns `{ valid, errors, config? }` as JSON.
#[napi(catch_unwind)]
pub fn validate_plugin_file(json: String) -> String {
    let checked = parsed(&json, ErrorKind::Validation)
        .map_err(|err| err.message)
        .and_then(|value| check_file(&value));
    let (errors, config) = match checked {
        Ok(file) => (file.problems(), file.config()),
        Err(problem) => (vec![problem], None),
    };
    match config.filter(|_| errors.is_empty()) {
        Some(config) => json!({ "valid": true, "errors": errors, "config": config }).to_string(),
        None => json!({ "valid": false, "errors": errors }).to_string(),
    }
}

/// Checks the definition of one tool. Returns `{ valid, errors }` as JSON.
#[napi(catch_unwind)]
pub fn validate_plugin_tool(json: String) -> String {
    let checked = parsed(&json, ErrorKind::Validation)
        .map_err(|err| vec![err.message])
        .and_then(|value| check_tool(&value));
    let errors = checked.err().unwrap_or_default();
    json!({ "valid": errors.is_empty(), "errors": errors }).to_string()
}

/// The schema of plugin files, for editors.
#[napi(catch_unwind)]
pub fn plugin_schema() -> String {
    plugin_file_schema().to_string()
}
