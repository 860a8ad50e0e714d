//! Input of tools whose schema somebody else wrote: a host or an MCP server.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::{InputValidator, SchemaError, check_foreign_schema, closed_schema, has_references};
use crate::error::{ErrorKind, ToolError};

/// How many inputs of one tool are validated at a time.
const MAX_VALIDATING: usize = 128;

/// How many bytes a schema has whose validation may take long, with whatever input.
const LARGE_SCHEMA: usize = 16 * 1024;

/// Validates the input of one tool.
pub(crate) struct ForeignInput {
    validator: InputValidator,
    /// References can make a small schema a large one, and a large one may have thousands of alternatives, so
    /// that validation takes its time.
    is_slow: bool,
    /// How many inputs are being validated.
    validating: AtomicUsize,
}

impl ForeignInput {
    /// Compiles a schema, or says what is wrong with it.
    pub(crate) fn new(schema: &Value) -> Result<Self, SchemaError> {
        check_foreign_schema(schema)?;
        let validator = InputValidator::new(&closed_schema(schema))?;
        let is_slow = has_references(schema) || schema.to_string().len() > LARGE_SCHEMA;
        Ok(Self { validator, is_slow, validating: AtomicUsize::new(0) })
    }

    /// True when validating may take long.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// The input as the tool gets it. `name` is that of the tool.
    pub(crate) fn accept(&self, name: &str, input: Value) -> Result<Value, ToolError> {
        // A validation cannot be stopped: a schema that keeps threads busy gets no more of them.
        if self.validating.fetch_add(1, Ordering::Relaxed) >= MAX_VALIDATING {
            self.validating.fetch_sub(1, Ordering::Relaxed);
            let message =
                format!("tool `{name}` still validates earlier input; its schema is too costly");
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        let accepted = self.validator.accept(input);
        self.validating.fetch_sub(1, Ordering::Relaxed);
        accepted
    }
}
