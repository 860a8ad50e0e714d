//! The description of a tool: its name, text and schema for models, and its effects for policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ToolKind;

/// The kind of effect that calls of a tool have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideEffect {
    /// Reads the workspace and changes nothing.
    None,
    /// Reads or changes state of the session only.
    ReadOnly,
    /// Changes files.
    Mutating,
    /// Reaches beyond the workspace, by the network or by a command that could use it.
    Network,
    /// Waits for or stops something.
    Blocking,
    /// Starts another agent.
    Spawns,
}

impl SideEffect {
    /// The risk of a call with this effect.
    pub(crate) const fn risk(self) -> Risk {
        match self {
            Self::None => Risk::None,
            Self::ReadOnly | Self::Blocking => Risk::Low,
            Self::Mutating => Risk::Medium,
            Self::Network => Risk::High,
            Self::Spawns => Risk::Critical,
        }
    }

    /// True when a call changes nothing outside the session, so that such calls may run in parallel.
    pub(crate) const fn is_read_only(self) -> bool {
        matches!(self, Self::None | Self::ReadOnly)
    }
}

/// How much harm a call could do, from the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Changes nothing.
    None,
    /// Changes only what is easily undone.
    Low,
    /// Changes files.
    Medium,
    /// Reaches beyond the workspace.
    High,
    /// Can do anything an agent can.
    Critical,
}

impl Risk {
    /// The level that people are shown, one of three.
    pub(crate) const fn for_people(self) -> &'static str {
        match self {
            Self::None | Self::Low => "low",
            Self::Medium => "medium",
            Self::High | Self::Critical => "high",
        }
    }
}

/// MCP's hints about a tool. An absent hint means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same input has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool reaches beyond this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The description of a tool for models, hosts and policy.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: String,
    /// The title that people are shown.
    pub title: String,
    /// The text from which models learn when and how to call it.
    pub description: String,
    /// JSON Schema of the input, always of `type: "object"`.
    pub input_schema: Value,
    /// The kind of effect that a call has.
    pub side_effect: SideEffect,
    /// The kind of tool, which rules follow from.
    pub kind: ToolKind,
    /// MCP's hints about the tool.
    pub annotations: Annotations,
}

/// The rule of [`is_valid_name`] in words, for errors.
pub(crate) const NAME_RULE: &str = "1 to 64 letters, digits, `_` or `-`";

/// True for names that every provider and MCP client accepts.
pub fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
