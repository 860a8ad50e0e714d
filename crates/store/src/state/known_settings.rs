//! Settings with a known type and known values: a few that most hosts have, and those that the host declares.

use std::{collections::BTreeMap, fmt};

use toolwright_base::shortened;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Settings that decide what may run. A model that could change one would choose its own permissions. They
/// include those of Claude Code, because hosts store its settings as well.
const HOST_ONLY: [&str; 25] = [
    "additionaldirectories",
    "allowedtools",
    "allowmanagedhooksonly",
    "apikeyhelper",
    "awsauthrefresh",
    "awscredentialexport",
    "bypasspermissions",
    "dangerouslyskippermissions",
    "defaultmode",
    "disableallhooks",
    "disablebypasspermissionsmode",
    "disallowedtools",
    "enableallprojectmcpservers",
    "enabledmcpjsonservers",
    "env",
    "hooks",
    "mcpservers",
    "otelheadershelper",
    "permissionmode",
    "permissions",
    "policy",
    "remembergrants",
    "sandbox",
    "statusline",
    "trustproject",
];

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a string, a boolean or a number")]
pub enum SettingValue {
    /// True or false.
    Switch(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

impl JsonSchema for SettingValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SettingValue".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "boolean", "number"] })
    }
}

impl fmt::Display for SettingValue {
    /// As JSON, which distinguishes `"true"` from `true`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(it) => write!(f, "{it}"),
            Self::Number(it) => write!(f, "{it}"),
            Self::Text(it) => write!(f, "{}", serde_json::Value::from(it.as_str())),
        }
    }
}

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingKind {
    /// A text.
    String,
    /// True or false.
    Boolean,
    /// A number.
    Number,
}

impl SettingKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Boolean => "true or false",
            Self::Number => "a number",
        }
    }
}

/// The type, values and description of a known setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SettingSpec {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: SettingKind,
    /// The only values it takes; any of its type if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<SettingValue>,
    /// Its value while it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<SettingValue>,
    /// What it is for, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Why a setting cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The value is of another type, or not one of those it takes.
    #[error("`{setting}` takes {expected}, got {value}")]
    WrongValue {
        /// The name of the setting.
        setting: String,
        /// What it takes.
        expected: String,
        /// The given value, as JSON.
        value: String,
    },
    /// The setting decides what may run.
    #[error("`{0}` decides what may run, so only the host can set it; ask the user")]
    HostOnly(String),
}

/// The settings that are known, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownSettings(BTreeMap<String, SettingSpec>);

impl Default for KnownSettings {
    /// Settings that most hosts have. Toolwright itself uses none of them; it reports changes to the host.
    fn default() -> Self {
        let text = |it: &str| SettingValue::Text(it.to_owned());
        let spec = |kind, description: &str, values| SettingSpec {
            kind,
            values,
            default: None,
            description: Some(description.to_owned()),
        };
        Self(BTreeMap::from_iter([
            (
                "language".to_owned(),
                spec(SettingKind::String, "the language to answer in", Vec::new()),
            ),
            ("model".to_owned(), spec(SettingKind::String, "the model to use", Vec::new())),
            (
                "theme".to_owned(),
                spec(
                    SettingKind::String,
                    "the colours of the interface",
                    vec![text("dark"), text("light"), text("system")],
                ),
            ),
            (
                "verbose".to_owned(),
                spec(SettingKind::Boolean, "whether to show all output", Vec::new()),
            ),
        ]))
    }
}

impl KnownSettings {
    /// Adds the settings that the host declares, which replace built-in ones of the same name. Fails if a
    /// declared value or default does not match the setting's type.
    pub fn with(mut self, declared: BTreeMap<String, SettingSpec>) -> Result<Self, SettingError> {
        for (name, mut spec) in declared {
            let values = std::mem::take(&mut spec.values);
            let fitting_values = values.iter().map(|it| fitting(&name, &spec, it));
            spec.values = fitting_values.collect::<Result<_, _>>()?;
            if let Some(default) = spec.default.take() {
                spec.default = Some(fitting(&name, &spec, &default)?);
            }
            self.0.insert(name, spec);
        }
        Ok(self)
    }

    /// The specification of a setting, if it is known.
    pub fn get(&self, name: &str) -> Option<&SettingSpec> {
        self.0.get(name)
    }

    /// All known settings, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &SettingSpec)> {
        self.0.iter().map(|(name, spec)| (name.as_str(), spec))
    }

    /// Converts a value to the setting's type, or fails. A setting that is not known accepts every value.
    /// `"true"` and `"5"` are converted where a boolean or a number is required.
    pub fn check(&self, name: &str, value: SettingValue) -> Result<SettingValue, SettingError> {
        match self.0.get(name) {
            Some(spec) => fitting(name, spec, &value),
            None => Ok(value),
        }
    }

    /// Refuses a setting that a model must not change.
    pub fn check_open_to_models(name: &str) -> Result<(), SettingError> {
        // Hosts may split names in different ways: `permissions.allow`, `/permissions`, `permissions[0]`.
        let is_part_of_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
        let first = name.split(|it| !is_part_of_word(it)).find(|it| !it.is_empty());
        let letters = first.unwrap_or(name).chars().filter(char::is_ascii_alphanumeric);
        let plain: String = letters.map(|it| it.to_ascii_lowercase()).collect();
        if HOST_ONLY.contains(&plain.as_str()) {
            return Err(SettingError::HostOnly(name.to_owned()));
        }
        Ok(())
    }

    /// Known names that are similar to an unknown one, the closest first.
    pub fn close_to(&self, name: &str) -> Vec<&str> {
        let name = name.to_lowercase();
        let mut close: Vec<(usize, &str)> = self
            .0
            .keys()
            .map(|it| (strsim::osa_distance(&it.to_lowercase(), &name), it.as_str()))
            .filter(|(distance, it)| *distance <= it.chars().count().div_ceil(3))
            .collect();
        close.sort_unstable();
        close.into_iter().map(|it| it.1).take(3).collect()
    }
}

fn fitting(
    name: &str,
    spec: &SettingSpec,
    value: &SettingValue,
) -> Result<SettingValue, SettingError> {
    let meant = match (spec.kind, value) {
        (SettingKind::Boolean, SettingValue::Text(text)) => {
            text.parse().ok().map(SettingValue::Switch)
        }
        (SettingKind::Number, SettingValue::Text(text)) => {
            text.parse().ok().map(SettingValue::Number)
        }
        (SettingKind::String, SettingValue::Text(_))
        | (SettingKind::Boolean, SettingValue::Switch(_))
        | (SettingKind::Number, SettingValue::Number(_)) => Some(value.clone()),
        _ => None,
    };
    let is_taken = |it: &SettingValue| spec.values.is_empty() || spec.values.contains(it);
    meant.filter(is_taken).ok_or_else(|| SettingError::WrongValue {
        setting: name.to_owned(),
        expected: if spec.values.is_empty() {
            spec.kind.as_str().to_owned()
        } else {
            let values: Vec<String> = spec.values.iter().map(ToString::to_string).collect();
            format!("one of {}", values.join(", "))
        },
        value: shortened(&value.to_string(), 200).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn text(it: &str) -> SettingValue {
        SettingValue::Text(it.to_owned())
    }

    #[test]
    fn a_known_setting_accepts_only_its_type_and_values() {
        let known = KnownSettings::default();
        assert_eq!(known.check("verbose", text("true")), Ok(SettingValue::Switch(true)));
        assert_eq!(known.check("theme", text("dark")), Ok(text("dark")));
        assert_eq!(
            known.check("free", SettingValue::Switch(false)),
            Ok(SettingValue::Switch(false))
        );
        let refused = |name, value| known.check(name, text(value)).map_err(|it| it.to_string());
        assert_eq!(
            refused("theme", "pink"),
            Err(r#"`theme` takes one of "dark", "light", "system", got "pink""#.to_owned())
        );
        assert_eq!(
            refused("verbose", "yes"),
            Err(r#"`verbose` takes true or false, got "yes""#.to_owned())
        );
    }

    #[test]
    fn declared_values_are_checked_against_the_declared_type() {
        let declared = |spec: serde_json::Value| {
            let spec = serde_json::from_value(spec).map_err(|it| it.to_string())?;
            let known = KnownSettings::default().with(BTreeMap::from([("a".to_owned(), spec)]));
            known.map(|it| it.get("a").cloned()).map_err(|it| it.to_string())
        };
        let number = |it: i32| SettingValue::Number(it.into());
        assert_eq!(
            declared(serde_json::json!({ "type": "number", "values": ["4", 5], "default": "5" })),
            Ok(Some(SettingSpec {
                kind: SettingKind::Number,
                values: vec![number(4), number(5)],
                default: Some(number(5)),
                description: None,
            }))
        );
        assert_eq!(
            declared(serde_json::json!({ "type": "number", "values": ["x"] })),
            Err(r#"`a` takes a number, got "x""#.to_owned())
        );
        assert_eq!(
            declared(serde_json::json!({ "type": "number", "values": [1], "default": 2 })),
            Err("`a` takes one of 1, got 2".to_owned())
        );
    }

    #[test]
    fn models_cannot_set_permissions_in_any_spelling() {
        for name in [
            "permissionMode",
            "permission_mode",
            "PERMISSIONS.defaultMode",
            "hooks",
            ".permissions",
            "/hooks/PreToolUse",
            "permissions[allow]",
            "permissions allow",
            "$.permissions",
            "['env']",
            "apiKeyHelper",
            "dangerously-skip-permissions",
        ] {
            assert!(KnownSettings::check_open_to_models(name).is_err(), "{name}");
        }
        for name in ["theme", "my.policy", "environment"] {
            assert_eq!(KnownSettings::check_open_to_models(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn similar_names_are_found() {
        let known = KnownSettings::default();
        assert_eq!(known.close_to("Them"), ["theme"]);
        assert_eq!(known.close_to("verbos"), ["verbose"]);
        assert_eq!(known.close_to("something else"), Vec::<&str>::new());
    }
}
