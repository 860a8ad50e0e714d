//! What a tool says about one of its calls before it runs.

use serde_json::{Map, Value};
use toolwright_base::Risk;

/// The tool's own description of one call. It changes what a person is shown. Policy alone decides
/// whether a person is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnConfirmation {
    /// What the call would do, in one line.
    pub description: Option<String>,
    /// The locations it would touch.
    pub locations: Option<Vec<String>>,
    /// The risk of the call.
    pub risk: Option<Risk>,
    /// Further details to show to a person, under the tool's own names.
    pub more: Map<String, Value>,
}
