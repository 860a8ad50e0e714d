//! Input of tools whose schema comes from a host or an MCP server.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use toolwright_base::{ErrorKind, ToolError};

use super::{InputValidator, SchemaError, check_foreign_schema, closed_schema, has_references};

/// How many inputs of one tool are validated at the same time.
const MAX_VALIDATING: usize = 128;

/// Validating against a schema of more bytes than this may take long, for any input.
const LARGE_SCHEMA: usize = 16 * 1024;

/// Validates the input of one tool.
pub struct ForeignInput {
    validator: InputValidator,
    /// References can expand a small schema into a large one, and a large one may have thousands of
    /// alternatives, so that validation is slow.
    is_slow: bool,
    /// How many inputs are being validated now.
    validating: AtomicUsize,
}

impl ForeignInput {
    /// Compiles a schema, or says what is wrong with it.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        check_foreign_schema(schema)?;
        let validator = InputValidator::new(&closed_schema(schema))?;
        let is_slow = has_references(schema) || schema.to_string().len() > LARGE_SCHEMA;
        Ok(Self { validator, is_slow, validating: AtomicUsize::new(0) })
    }

    /// True when validating may take long.
    pub fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Validates the input for the tool `name`.
    pub fn accept(&self, name: &str, input: Value) -> Result<Value, ToolError> {
        // A validation cannot be stopped, so a schema that keeps threads busy gets no more of them.
        if self.validating.fetch_add(1, Ordering::Relaxed) >= MAX_VALIDATING {
            self.validating.fetch_sub(1, Ordering::Relaxed);
            let message = format!(
                "tool `{name}` is still validating earlier input; its schema is too expensive"
            );
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        let accepted = self.validator.accept(input);
        self.validating.fetch_sub(1, Ordering::Relaxed);
        accepted
    }
}
