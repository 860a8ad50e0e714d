//! The output formatter, for JavaScript.

use napi_derive::napi;
use serde_json::json;

use crate::tool::{TruncationLimits, for_display, for_model, truncate};

/// Cuts an output; gives `{ content, truncated, omitted? }` as JSON. Zero is no limit.
#[napi(catch_unwind)]
pub fn truncate_output(output: String, max_chars: u32, max_lines: u32) -> String {
    let limit = |max: u32| usize::try_from(max).ok().filter(|it| *it > 0);
    let limits = TruncationLimits { max_chars: limit(max_chars), max_lines: limit(max_lines) };
    json!(truncate(&output, limits)).to_string()
}

/// Output as a model reads it best.
#[napi(catch_unwind)]
pub fn format_for_model(output: String) -> String {
    for_model(&output)
}

/// Output as a person can safely be shown it.
#[napi(catch_unwind)]
pub fn format_for_display(output: String) -> String {
    for_display(&output)
}
