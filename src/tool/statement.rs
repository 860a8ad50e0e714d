//! What a tool that looks at each of its calls says of one before it runs.

use serde_json::{Map, Value};

use super::Risk;

/// The tool's own words on one call. They say what a person is shown; whether somebody is asked at all is
/// for policy to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// What the call is about to do, in one line.
    pub description: Option<String>,
    /// What it will touch.
    pub locations: Option<Vec<String>>,
    /// How much harm it could do.
    pub risk: Option<Risk>,
    /// What else a person who is asked is to be shown, by the names that the tool gives it.
    pub more: Map<String, Value>,
}
