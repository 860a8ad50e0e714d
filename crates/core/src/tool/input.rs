//! Validates input against a schema. A model that sends invalid input gets an error that names every
//! problem.
//!
//! Before that, the few conversions of [`super::coerce`] are applied.

use std::fmt::Write as _;

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Map, Value};
use toolwright_base::{ErrorKind, ToolError, shortened};

use super::{SchemaError, coerce::coerce};

/// How many problems one error names. A model can fix them all at once.
const MAX_REPORTED: usize = 5;
/// How many problems are examined, because an array can have a million of them.
const MAX_LOOKED_AT: usize = 100;
/// Prevents a hostile pattern in the schema of a host or server from stalling a call.
const MAX_PATTERN_STEPS: usize = 200_000;
/// How much of a wrong value is shown.
const MAX_SHOWN_CHARS: usize = 60;

/// Validates values against a compiled schema.
pub struct InputValidator {
    schema: Value,
    compiled: Validator,
    noun: &'static str,
}

impl InputValidator {
    /// Compiles a schema. A reference to another document is an error and is never fetched.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_PATTERN_STEPS);
        let compiled = jsonschema::options()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|err| SchemaError::Invalid(err.to_string()))?;
        Ok(Self { schema: schema.clone(), compiled, noun: "parameter" })
    }

    /// Sets the noun for a field in messages, for values that are not a tool's input.
    #[must_use]
    pub fn naming(mut self, noun: &'static str) -> Self {
        self.noun = noun;
        self
    }

    /// Returns the input after coercion, or an error that names every wrong parameter.
    pub fn accept(&self, mut input: Value) -> Result<Value, ToolError> {
        if input.is_null() {
            // Models often omit the input of a tool without parameters.
            input = Value::Object(Map::new());
        }
        if !input.is_object() {
            return Err(ToolError::new(
                ErrorKind::Validation,
                format!("expected an object of {}s, got {}", self.noun, shown(&input)),
            ));
        }
        coerce(&mut input, &self.schema);
        if self.compiled.is_valid(&input) {
            return Ok(input);
        }
        let mut problems: Vec<String> = Vec::new();
        let mut left_out = 0_usize;
        for error in self.compiled.iter_errors(&input).take(MAX_LOOKED_AT) {
            let problem = self.explain(&error);
            if problems.contains(&problem) {
                continue;
            }
            if problems.len() < MAX_REPORTED {
                problems.push(problem);
            } else {
                left_out += 1;
            }
        }
        let mut message = problems.join("; ");
        if left_out > 0 {
            let _ = write!(message, "; and {left_out} more problems");
        }
        Err(ToolError::new(ErrorKind::Validation, message))
    }

    fn explain(&self, error: &ValidationError<'_>) -> String {
        let pointer = error.instance_path().as_str();
        let place = parameter_name(pointer);
        let schema = self.schema_at(pointer);
        let noun = self.noun;
        let in_words = || lower_first(&error.masked_with("the value").to_string());
        let words = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let unknown: Vec<_> =
                    unexpected.iter().take(MAX_REPORTED).map(|it| quoted(it)).collect();
                let owner = if place.is_empty() {
                    String::new()
                } else {
                    format!(" in {}", quoted(&place))
                };
                let known = known_parameters(schema, noun);
                return format!(
                    "unknown {noun}{} {}{owner}; {known}",
                    if unknown.len() > 1 { "s" } else { "" },
                    unknown.join(", "),
                );
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let full =
                    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
                let expected = schema
                    .and_then(|it| it.get("properties")?.get(name))
                    .map_or_else(String::new, |it| format!(", expected {}", expectation(it)));
                return format!("missing required {noun} {}{expected}", quoted(&full));
            }
            // The schema says what was expected, in plain words.
            ValidationErrorKind::Type { .. }
            | ValidationErrorKind::Enum { .. }
            | ValidationErrorKind::Minimum { .. }
            | ValidationErrorKind::Maximum { .. }
            | ValidationErrorKind::MinLength { .. }
            | ValidationErrorKind::MaxLength { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::MaxItems { .. } => match schema.map(expectation) {
                Some(expected) if !expected.is_empty() => format!("expected {expected}"),
                _ => in_words(),
            },
            _ => in_words(),
        };
        let subject = if place.is_empty() {
            "input".to_owned()
        } else {
            format!("{noun} {}", quoted(&place))
        };
        format!("{subject}: {words}, got {}", shown(error.instance()))
    }

    fn schema_at(&self, pointer: &str) -> Option<&Value> {
        pointer.split('/').skip(1).try_fold(&self.schema, |schema, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            schema
                .get("properties")
                .and_then(|it| it.get(&step))
                .or_else(|| step.parse::<usize>().ok().and_then(|_| schema.get("items")))
                .or_else(|| schema.get("additionalProperties").filter(|it| it.is_object()))
        })
    }
}

fn expectation(schema: &Value) -> String {
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let options: Vec<_> = options.iter().map(|it| quoted(&plain(it))).collect();
        return format!("one of {}", options.join(", "));
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => with_article(kind),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(with_article).collect();
            kinds.join(" or ")
        }
        _ => return String::new(),
    };
    let mut text = kind;
    let bound = |key| schema.get(key).map(plain);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => text += &format!(" from {least} to {most}"),
        (Some(least), None) => text += &format!(" of at least {least}"),
        (None, Some(most)) => text += &format!(" of at most {most}"),
        (None, None) => {}
    }
    let counts = [("minLength", "maxLength", "characters"), ("minItems", "maxItems", "items")];
    for (least, most, unit) in counts {
        let of = |limit: &str| if limit == "1" { unit.trim_end_matches('s') } else { unit };
        match (bound(least), bound(most)) {
            (Some(least), Some(most)) => text += &format!(" of {least} to {most} {unit}"),
            (Some(least), None) => text += &format!(" of at least {least} {}", of(&least)),
            (None, Some(most)) => text += &format!(" of at most {most} {}", of(&most)),
            (None, None) => {}
        }
    }
    text
}

fn with_article(kind: &str) -> String {
    match kind {
        "integer" | "array" | "object" => format!("an {kind}"),
        "null" => "null".to_owned(),
        _ => format!("a {kind}"),
    }
}

fn known_parameters(schema: Option<&Value>, noun: &str) -> String {
    let known: Vec<_> = schema
        .and_then(|it| it.get("properties")?.as_object())
        .map(|it| it.keys().map(|it| quoted(it)).collect())
        .unwrap_or_default();
    if known.is_empty() {
        format!("there are no {noun}s")
    } else {
        format!("known {noun}s: {}", known.join(", "))
    }
}

/// A JSON pointer in common notation: `edits[2].target` for `/edits/2/target`.
fn parameter_name(pointer: &str) -> String {
    let mut name = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step.bytes().all(|it| it.is_ascii_digit()) && !step.is_empty() {
            let _ = write!(name, "[{step}]");
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&step);
        }
    }
    name
}

/// A value and its type, short enough for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{}`", plain(value)),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(fields) => format!("an object of {} fields", fields.len()),
    }
}

/// The JSON type of a value, with its article.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text, MAX_SHOWN_CHARS).replace(['\n', '\r'], "⏎"))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn validator() -> InputValidator {
        InputValidator::new(&json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1 },
                "ratio": { "type": "number" },
                "all": { "type": "boolean" },
                "mode": { "type": "string", "enum": ["a", "b"] },
                "edits": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "target": { "type": "string" }, "line": { "type": "integer" } },
                    "required": ["target"],
                    "additionalProperties": false,
                } },
            },
            "required": ["path"],
            "additionalProperties": false,
        }))
        .unwrap()
    }

    fn refusal(input: Value) -> String {
        let error = validator().accept(input).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Validation);
        error.message
    }

    #[test]
    fn numbers_and_booleans_written_as_text_are_coerced() {
        let input = json!({ "path": "5", "limit": "5", "ratio": "0.5", "all": "true",
            "edits": [{ "target": "1", "line": "7" }] });
        let expected = json!({ "path": "5", "limit": 5, "ratio": 0.5, "all": true,
            "edits": [{ "target": "1", "line": 7 }] });
        assert_eq!(validator().accept(input).unwrap(), expected);
    }

    #[test]
    fn null_for_an_optional_parameter_is_absent() {
        assert_eq!(
            validator().accept(json!({ "path": "a", "limit": null })).unwrap(),
            json!({ "path": "a" })
        );
        assert_eq!(
            refusal(json!({ "path": null })),
            "parameter `path`: expected a string of at least 1 character, got null"
        );
    }

    #[test]
    fn text_that_is_not_a_number_is_not_coerced() {
        for text in ["", "5 ", "0x10", "1e3", "five", "--5", ".5", "1.5"] {
            assert_eq!(
                refusal(json!({ "path": "a", "limit": text })),
                format!(
                    "parameter `limit`: expected an integer of at least 1, got the string `{text}`"
                )
            );
        }
    }

    #[test]
    fn every_problem_is_named_with_the_expected_and_the_received_value() {
        assert_eq!(
            refusal(json!({ "limit": -1, "bogus": 1, "mode": "c" })),
            "parameter `limit`: expected an integer of at least 1, got `-1`; \
             parameter `mode`: expected one of `a`, `b`, got the string `c`; \
             unknown parameter `bogus`; known parameters: `path`, `limit`, `ratio`, `all`, `mode`, `edits`; \
             missing required parameter `path`, expected a string of at least 1 character"
        );
    }

    #[test]
    fn nested_parameters_are_named_in_common_notation() {
        assert_eq!(
            refusal(json!({ "path": "a", "edits": [{ "target": "x" }, { "line": 1.5 }] })),
            "parameter `edits[1].line`: expected an integer, got `1.5`; \
             missing required parameter `edits[1].target`, expected a string"
        );
    }

    #[test]
    fn input_that_is_not_an_object_is_refused_and_null_counts_as_empty() {
        assert_eq!(
            refusal(json!([1])),
            "expected an object of parameters, got an array of 1 items"
        );
        assert_eq!(
            refusal(Value::Null),
            "missing required parameter `path`, expected a string of at least 1 character"
        );
    }

    #[test]
    fn a_long_value_is_shown_in_part() {
        let message = refusal(json!({ "path": "a", "mode": "x".repeat(10_000) }));
        assert!(message.len() < 300, "{message}");
    }

    #[test]
    fn references_to_other_documents_are_refused() {
        let schema =
            json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:1/x" } } });
        assert!(matches!(InputValidator::new(&schema), Err(SchemaError::Invalid(_))));
    }
}
