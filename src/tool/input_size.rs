//! How much a call may be given.

use crate::error::{ErrorKind, ToolError};

/// As many bytes of JSON an input may have. It is there several times on its way to the tool.
pub const MAX_INPUT_BYTES: usize = 64 * 1024 * 1024;

/// Refuses the JSON of an input that is too long, before it is parsed.
pub fn check_input_size(json: &str) -> Result<(), ToolError> {
    if json.len() <= MAX_INPUT_BYTES {
        return Ok(());
    }
    let message = format!(
        "the input has more than `{MAX_INPUT_BYTES}` bytes of JSON, the most a call takes; give large content in several calls, or let a command write it"
    );
    Err(ToolError::new(ErrorKind::Validation, message))
}
