//! JSON Schema, for input of tools whose schema comes from outside.
//!
//! A crate of its own because the validator is generic: its code is built as the crate that uses it is
//! built, and there is a megabyte of it. This one is built for size, the rest of toolwright for speed.

use std::borrow::Cow;

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// Keeps a hostile pattern in a host's or server's schema from stalling a call.
const PATTERN_STEPS: usize = 200_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema(Validator);

/// Something about a value that its schema does not allow.
#[derive(Debug)]
pub struct Problem<'v> {
    /// Where it is, as a JSON pointer.
    pub pointer: String,
    /// The value there.
    pub value: Cow<'v, Value>,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

/// What is wrong with a value.
#[derive(Debug)]
pub enum ProblemKind {
    /// It has properties that the schema does not know.
    UnknownProperties(Vec<String>),
    /// It lacks a property.
    MissingProperty(String),
    /// It has another type, length or size than the schema there asks for, or is none of its choices; the
    /// same in words, where that schema is not at hand.
    Unexpected(String),
    /// Something else, in words.
    Other(String),
}

impl Schema {
    /// Compiles a schema. References to other documents are refused, never fetched.
    pub fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::options()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(PATTERN_STEPS))
            .build(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// True when there is no problem with the value.
    pub fn allows(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// The first problems with a value.
    pub fn problems<'v>(&'v self, value: &'v Value, most: usize) -> Vec<Problem<'v>> {
        self.0.iter_errors(value).take(most).map(|error| problem(&error)).collect()
    }
}

fn problem<'v>(error: &ValidationError<'v>) -> Problem<'v> {
    let words = || error.masked_with("the value").to_string();
    let kind = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            ProblemKind::UnknownProperties(unexpected.clone())
        }
        ValidationErrorKind::Required { property } => {
            ProblemKind::MissingProperty(property.as_str().unwrap_or_default().to_owned())
        }
        ValidationErrorKind::Type { .. }
        | ValidationErrorKind::Enum { .. }
        | ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::MinLength { .. }
        | ValidationErrorKind::MaxLength { .. }
        | ValidationErrorKind::MinItems { .. }
        | ValidationErrorKind::MaxItems { .. } => ProblemKind::Unexpected(words()),
        _ => ProblemKind::Other(words()),
    };
    Problem {
        pointer: error.instance_path().as_str().to_owned(),
        value: error.instance().clone(),
        kind,
    }
}
