//! Converts input values that have the wrong type but a clear meaning, because models often send them.
//!
//! There are only three conversions: `"5"` to a number, `"true"` to a boolean, and `null` for an
//! optional parameter to an absent one.

use serde_json::{Number, Value};

/// How many references are followed, because a schema may refer to itself.
const MAX_STEPS: usize = 16;

/// Converts a value to the types that its schema requires, where the conversion is unambiguous.
pub(super) fn coerce(value: &mut Value, schema: &Value) {
    SchemaNode { node: schema, root: schema }.coerce(value);
}

/// A part of a schema, with the whole schema that references point into.
#[derive(Clone, Copy)]
struct SchemaNode<'a> {
    node: &'a Value,
    root: &'a Value,
}

impl<'a> SchemaNode<'a> {
    fn part(self, node: &'a Value) -> Self {
        Self { node, root: self.root }
    }

    fn coerce(self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let schema = self.shape();
                let Some(properties) = schema.node.get("properties").and_then(Value::as_object)
                else {
                    return;
                };
                let required = schema.node.get("required").and_then(Value::as_array);
                fields.retain(|name, field| {
                    let Some(property) = properties.get(name) else { return true };
                    let property = schema.part(property);
                    let optional = !required.is_some_and(|it| it.iter().any(|it| it == name));
                    if field.is_null() && optional && !property.accepts("null", MAX_STEPS) {
                        return false;
                    }
                    property.coerce(field);
                    true
                });
            }
            Value::Array(items) => {
                let schema = self.shape();
                if let Some(part) = schema.node.get("items") {
                    for item in items {
                        schema.part(part).coerce(item);
                    }
                }
            }
            Value::String(text) if !self.accepts("string", MAX_STEPS) => {
                if let Some(coerced) = self.coerced(text) {
                    *value = coerced;
                }
            }
            _ => {}
        }
    }

    fn coerced(self, text: &str) -> Option<Value> {
        if self.accepts("boolean", MAX_STEPS) {
            match text {
                "true" => return Some(Value::Bool(true)),
                "false" => return Some(Value::Bool(false)),
                _ => {}
            }
        }
        let takes_fractions = self.accepts("number", MAX_STEPS);
        if !takes_fractions && !self.accepts("integer", MAX_STEPS) {
            return None;
        }
        // Only plain decimal numbers: no `1e3`, no blanks, no hexadecimal.
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = digits.len() <= 20
            && digits.starts_with(|it: char| it.is_ascii_digit())
            && digits.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if !plain {
            return None;
        }
        match text.parse::<i64>() {
            Ok(whole) => Some(Value::Number(whole.into())),
            Err(_) if takes_fractions => {
                text.parse().ok().and_then(Number::from_f64).map(Value::Number)
            }
            Err(_) => None,
        }
    }

    /// The schema that describes an object or array. Follows references, and choices with a single
    /// alternative besides `null`.
    fn shape(self) -> Self {
        let mut schema = self;
        for _ in 0..MAX_STEPS {
            let next = schema.target().or_else(|| {
                let mut choices = schema.choices().filter(|it| !it.is_null_only());
                choices.next().filter(|_| choices.next().is_none())
            });
            match next {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// True when the schema accepts a type. A schema without types counts as accepting strings and `null`,
    /// so that these values are not converted.
    fn accepts(self, kind: &str, steps: usize) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return true };
        match self.node.get("type") {
            Some(Value::String(only)) => return only == kind,
            Some(Value::Array(kinds)) => return kinds.iter().any(|it| it == kind),
            _ => {}
        }
        if let Some(values) = self.node.get("enum").and_then(Value::as_array) {
            return values.iter().any(|it| is_kind(it, kind));
        }
        if let Some(value) = self.node.get("const") {
            return is_kind(value, kind);
        }
        if let Some(target) = self.target() {
            return target.accepts(kind, steps);
        }
        let mut choices = self.choices().peekable();
        if choices.peek().is_some() {
            return choices.any(|it| it.accepts(kind, steps));
        }
        matches!(kind, "string" | "null")
    }

    /// The target of a reference within the same schema.
    fn target(self) -> Option<Self> {
        let pointer = self.node.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer).map(|node| self.part(node))
    }

    fn choices(self) -> impl Iterator<Item = Self> {
        ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(move |key| self.node.get(key)?.as_array())
            .flatten()
            .map(move |node| self.part(node))
    }

    fn is_null_only(self) -> bool {
        self.node.get("type").is_some_and(|it| it == "null")
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn choices_and_references_are_followed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "mode": { "enum": ["a", "b"] },
                "count": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "boolean" }] },
                "text": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "node": { "$ref": "#/$defs/node" },
                "level": { "const": 3 },
            },
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": { "line": { "type": "integer" }, "next": { "$ref": "#/$defs/node" } },
                },
            },
        });
        let mut value = json!({ "mode": null, "count": null, "either": "true", "text": "5",
            "node": { "line": "1", "next": { "line": "2", "next": null } }, "level": "3" });
        coerce(&mut value, &schema);
        assert_eq!(
            value,
            json!({ "count": null, "either": true, "text": "5",
                "node": { "line": 1, "next": { "line": 2 } }, "level": 3 })
        );
    }

    #[test]
    fn coercion_ends_for_a_schema_that_refers_to_itself() {
        let schema =
            json!({ "type": "object", "properties": { "a": { "$ref": "#/properties/a" } } });
        let mut value = json!({ "a": "5" });
        coerce(&mut value, &schema);
        assert_eq!(value, json!({ "a": "5" }));
    }
}
