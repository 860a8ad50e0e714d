//! A policy as people write it, in a file or in options, before it is compiled.

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::{Action, Layer};

/// Why a policy cannot be used. The previous policy stays in effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{layer}, {place}: {cause}", layer = layer.as_str())]
pub struct PolicyError {
    /// Where the rule comes from.
    pub layer: Layer,
    /// The rule, as `rules[3]` or `deny[0]`, with its text.
    pub place: String,
    /// What is wrong with it.
    pub cause: String,
}

/// A policy as people write it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// What happens to calls that no rule decides. If it is missing, the permission mode decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_action: Option<Action>,
    /// Rules as objects. Their order does not matter: deny overrides ask, ask overrides allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleConfig>,
    /// Rules as text, such as `Bash(git status:*)`, for what may run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Rules as text for what a person has to agree to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Rules as text for what must not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// The host's `allowedTools`, which mean the same as `allow`. Policy files do not have this list.
    #[serde(skip)]
    pub allowed: Vec<String>,
    /// The host's `disallowedTools`, which mean the same as `deny`, but a name without a pattern only means
    /// that tool and the same tool in other sets. Policy files do not have this list.
    #[serde(skip)]
    pub disallowed: Vec<String>,
}

/// One rule as an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleConfig {
    /// A tool's name, `*` for all, or a rule's text such as `Edit(src/**)`.
    pub tool: String,
    /// What happens to a matching call.
    pub action: Action,
    /// The risk a person is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskLevel>,
    /// The message for a person or a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Conditions, which all have to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionConfig>,
}

/// The risk of a tool as rules name it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// What it does is easily undone.
    Low,
    /// It changes files.
    Medium,
    /// It reaches beyond the workspace.
    High,
    /// It can do anything.
    Critical,
}

/// One or several values. One of them has to match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a value has to be text, or a list of texts")]
pub enum Values {
    /// One value.
    One(String),
    /// Several values.
    AnyOf(Vec<String>),
}

impl Values {
    /// The values as a list.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::AnyOf(values) => values,
        }
    }
}

/// How a parameter is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Operator {
    /// It equals the text.
    Equals,
    /// It contains the text.
    Contains,
    /// It begins with the text.
    StartsWith,
    /// A regular expression matches a part of it. Look-around and back-references are not supported.
    Matches,
}

/// A condition: `param`, `operator` and `value` together, or exactly one of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConditionConfig {
    /// The parameter's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// How it is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Operator>,
    /// The values it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Values>,
    /// The resolved paths lie in one of these directories, which are absolute, relative to the project, or
    /// begin with `~/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_within: Option<Values>,
    /// The resolved paths match one of these patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_glob: Option<Values>,
    /// The commands begin with one of these lists of words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_prefix: Option<Values>,
    /// The host of the URL is one of these; `*.docs.rs` means every host below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_host: Option<Values>,
    /// The call's risk is this or higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_at_least: Option<RiskLevel>,
}

impl PolicyConfig {
    /// Reads a policy. An error names the rule.
    pub fn from_json(policy: &Value, layer: Layer) -> Result<Self, PolicyError> {
        let error = |place: String, cause: String| PolicyError { layer, place, cause };
        let Value::Object(fields) = policy else {
            return Err(error("policy".to_owned(), "it has to be an object".to_owned()));
        };
        let mut fields = fields.clone();
        // Rules are read one by one, so that an error names the rule.
        let rules = match fields.remove("rules") {
            None => Vec::new(),
            Some(Value::Array(rules)) => rules,
            Some(_) => return Err(error("rules".to_owned(), "it has to be a list".to_owned())),
        };
        // `$schema` is for editors and not a part of the policy.
        fields.remove("$schema");
        for list in ["allow", "ask", "deny"] {
            let items = fields.get(list).and_then(Value::as_array).into_iter().flatten();
            if let Some((index, wrong)) = items.enumerate().find(|it| !it.1.is_string()) {
                let cause = "a rule of this list has to be text, such as `Bash(git status:*)`";
                return Err(error(format!("{list}[{index}] (`{wrong}`)"), cause.to_owned()));
            }
        }
        let mut config: Self = serde_json::from_value(Value::Object(fields))
            .map_err(|it| error("policy".to_owned(), it.to_string()))?;
        for (index, rule) in rules.into_iter().enumerate() {
            let tool = rule.get("tool").and_then(Value::as_str).unwrap_or("?").to_owned();
            let rule = serde_json::from_value(rule)
                .map_err(|it| error(format!("rules[{index}] (`{tool}`)"), it.to_string()))?;
            config.rules.push(rule);
        }
        Ok(config)
    }

    /// The host's `allowedTools` and `disallowedTools`.
    pub fn from_lists(allowed: Vec<String>, disallowed: Vec<String>) -> Self {
        Self { allowed, disallowed, ..Self::default() }
    }

    /// The same policy without what it allows. This is all that an untrusted project may set.
    #[must_use]
    pub fn only_limits(mut self) -> Self {
        self.rules.retain(|it| it.action != Action::Allow);
        self.allow.clear();
        self.allowed.clear();
        self.default_action = self.default_action.filter(|it| *it != Action::Allow);
        self
    }

    /// The JSON Schema of the policy file.
    pub fn schema() -> Schema {
        schema_for!(Self)
    }
}
