//! The data of a result, as JSON text.
//!
//! Most data are only passed on, and a large result has tens of thousands of values. So they are
//! serialized once, and parsed only by code that inspects them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// JSON as text.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct AnswerData(Box<RawValue>);

impl AnswerData {
    /// Serializes the data of a tool.
    pub fn of(data: &impl Serialize) -> Result<Self, serde_json::Error> {
        to_raw_value(data).map(Self)
    }

    /// Parses the data.
    pub fn value(&self) -> Value {
        // `of` wrote it, so it parses, unless it is nested more than 128 levels deep.
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for AnswerData {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// Any JSON.
impl JsonSchema for AnswerData {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn data_survive_a_round_trip() {
        let data =
            json!({ "b": [1, -2.5, null, true], "a": { "text": "\"é\u{1}\n" }, "c": u64::MAX });
        let kept = AnswerData::of(&data);
        let kept = kept.as_ref().ok();
        assert_eq!(kept.map(AnswerData::value), Some(data.clone()));
        assert_eq!(kept.map(AnswerData::text), Some(data.to_string().as_str()));
        assert_eq!(serde_json::to_value(kept).ok(), Some(data));
    }
}
