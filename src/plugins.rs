//! Checks plugin definitions for JavaScript.

use napi_derive::napi;
use toolwright_plugins::plugin_file_schema;

/// Checks a plugin file. Returns `{ valid, errors, config? }` as JSON.
#[napi(catch_unwind)]
pub fn validate_plugin_file(json: String) -> String {
    toolwright_host::validate_plugin_file(&json).to_string()
}

/// Checks the definition of one tool. Returns `{ valid, errors }` as JSON.
#[napi(catch_unwind)]
pub fn validate_plugin_tool(json: String) -> String {
    toolwright_host::validate_plugin_tool(&json).to_string()
}

/// The schema of plugin files, for editors.
#[napi(catch_unwind)]
pub fn plugin_schema() -> String {
    plugin_file_schema().to_string()
}
