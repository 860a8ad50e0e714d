//! The parameters that a plugin tool's input schema declares, and their values in one call.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolwright_base::{ErrorKind, ToolError, shortened};

/// The longest value that can replace a placeholder, in characters.
pub(super) const MAX_VALUE_CHARACTERS: usize = 10_000;

/// One declared parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// True if every call has a value for it.
    pub(super) is_always_there: bool,
    /// True if its values cannot be free text: numbers, booleans and enumerated values.
    pub(super) is_plain: bool,
    default: Option<Value>,
}

/// All declared parameters, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters(BTreeMap<String, Parameter>);

impl Parameters {
    /// The parameters of an input schema.
    pub(super) fn of_schema(schema: &Value) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameter = |(name, property): (&String, &Value)| {
            let default = property.get("default").filter(|it| !it.is_null()).cloned();
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            let parameter = Parameter {
                is_always_there: default.is_some() || is_required(name),
                is_plain: matches!(kind, "integer" | "number" | "boolean")
                    || property.get("enum").is_some()
                    || property.get("const").is_some(),
                default,
            };
            (name.clone(), parameter)
        };
        Self(properties.into_iter().flatten().map(parameter).collect())
    }

    pub(super) fn find(&self, name: &str) -> Option<&Parameter> {
        self.0.get(name)
    }

    /// The names in backticks, for messages.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.keys().map(|it| format!("`{it}`")).collect()
    }

    /// The defaults, by name.
    pub(super) fn defaults(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().filter_map(|(name, it)| Some((name, it.default.as_ref()?)))
    }

    /// Fills in the defaults of missing values.
    pub(super) fn fill_defaults(&self, mut input: Value) -> Value {
        if input.is_null() {
            input = Value::Object(Map::new());
        }
        if let Some(fields) = input.as_object_mut() {
            for (name, default) in self.defaults() {
                if fields.get(name).is_none_or(Value::is_null) {
                    fields.insert(name.clone(), default.clone());
                }
            }
        }
        input
    }
}

/// The values of one call.
#[derive(Clone, Copy)]
pub(super) struct CallValues<'a>(pub(super) &'a Value);

impl CallValues<'_> {
    /// The value of a parameter as text; `None` if the call has no value. Lists and objects become JSON.
    pub(super) fn text(self, name: &str) -> Result<Option<String>, ToolError> {
        let text = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        if text.contains('\0') {
            return Err(refused(
                name,
                "the value contains a NUL character, which cannot be passed to a program",
            ));
        }
        let count = text.chars().count();
        if count > MAX_VALUE_CHARACTERS {
            let cause = format!(
                "the value has {count} characters, and at most {MAX_VALUE_CHARACTERS} are accepted; give a shorter one"
            );
            return Err(refused(name, &cause));
        }
        Ok(Some(text))
    }
}

/// The error about the value of a parameter.
pub(super) fn refused(name: &str, cause: &str) -> ToolError {
    ToolError::new(ErrorKind::Validation, format!("parameter `{name}`: {cause}"))
}

/// A value shortened for messages.
pub(super) fn shown(value: &str) -> String {
    shortened(value, 60).replace(['\n', '\r'], "⏎")
}
