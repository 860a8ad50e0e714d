//! The limit on the size of a call's input.

use toolwright_base::{ErrorKind, ToolError};

/// The most bytes of JSON that an input may have. It is copied several times on the way to the tool.
pub(crate) const MAX_INPUT_BYTES: usize = 64 * 1024 * 1024;

/// Returns an error for an input that is too large, before it is parsed.
pub fn check_input_size(json: &str) -> Result<(), ToolError> {
    if json.len() <= MAX_INPUT_BYTES {
        return Ok(());
    }
    let message = format!(
        "the input has more than `{MAX_INPUT_BYTES}` bytes of JSON, the most a call accepts; pass large content in several calls, or let a command write it"
    );
    Err(ToolError::new(ErrorKind::Validation, message))
}
