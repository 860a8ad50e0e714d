//! The output formatter, for JavaScript.

use napi_derive::napi;
use serde_json::json;
use toolwright_core::{TruncationLimits, for_display, for_model, truncate};

/// Truncates an output. Returns `{ content, truncated, omitted? }` as JSON. Zero means no limit.
#[napi(catch_unwind)]
pub fn truncate_output(output: String, max_chars: u32, max_lines: u32) -> String {
    let limit = |max: u32| usize::try_from(max).ok().filter(|it| *it > 0);
    let limits = TruncationLimits { max_chars: limit(max_chars), max_lines: limit(max_lines) };
    json!(truncate(&output, limits)).to_string()
}

/// Formats output for a model.
#[napi(catch_unwind)]
pub fn format_for_model(output: String) -> String {
    for_model(&output)
}

/// Formats output so that it is safe to show to a person.
#[napi(catch_unwind)]
pub fn format_for_display(output: String) -> String {
    for_display(&output)
}
