//! The description of a tool: its name, text and schema for models, and its effects for policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{kind::ToolKind, shortened};

/// How much of a raw input is shown to a person.
const MAX_SHOWN_INPUT: usize = 120;

/// How much of a path, a command or a URL in a raw input is shown.
const MAX_SHOWN_TARGET: usize = 1_000;

/// The effect that calls of a tool have.
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
    pub const fn risk(self) -> Risk {
        match self {
            Self::None => Risk::None,
            Self::ReadOnly | Self::Blocking => Risk::Low,
            Self::Mutating => Risk::Medium,
            Self::Network => Risk::High,
            Self::Spawns => Risk::Critical,
        }
    }

    /// True when a call changes nothing outside the session, so that such calls may run in parallel.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::None | Self::ReadOnly)
    }
}

/// How much harm a call could do, from the lowest to the highest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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
    /// The level that people are shown: one of three.
    pub const fn for_people(self) -> &'static str {
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

/// The source of a tool's annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintsFrom {
    /// The host, for its own tool.
    Host,
    /// An MCP server, which is not trusted.
    McpServer,
}

impl Annotations {
    /// No hints.
    pub const NONE: Self = Self {
        title: None,
        read_only_hint: None,
        destructive_hint: None,
        idempotent_hint: None,
        open_world_hint: None,
    };

    /// The effect of a tool of which only the hints are known; its risk follows from it. Hints are
    /// judged only here. A tool without hints counts as risky.
    ///
    /// Both hints at once contradict each other. In MCP a read-only tool is never destructive, and a
    /// host is trusted with that. For a server, the worse hint counts.
    pub fn side_effect(&self, from: HintsFrom) -> SideEffect {
        let reads_only = self.read_only_hint == Some(true);
        let destroys = self.destructive_hint == Some(true);
        match from {
            HintsFrom::McpServer if destroys => SideEffect::Spawns,
            HintsFrom::McpServer | HintsFrom::Host if reads_only => SideEffect::ReadOnly,
            HintsFrom::Host if destroys => SideEffect::Spawns,
            HintsFrom::McpServer | HintsFrom::Host => SideEffect::Network,
        }
    }
}

/// Everything that models, hosts and policy need to know about a tool.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: String,
    /// The title that people are shown.
    pub title: String,
    /// The text that tells models when and how to call it.
    pub description: String,
    /// JSON Schema of the input, always of `type: "object"`.
    pub input_schema: Value,
    /// The schema of its result data; none for a host's tool.
    pub output: Option<OutputSpec>,
    /// The effect of its calls.
    pub side_effect: SideEffect,
    /// The kind of tool, from which rules follow.
    pub kind: ToolKind,
    /// MCP's hints about the tool.
    pub annotations: Annotations,
    /// Whether a model must know it from the beginning, for hosts that let models search for tools.
    /// None leaves that to the source of the tool.
    pub always_load: Option<bool>,
}

/// Describes the data of a tool's results.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// JSON Schema of the data, always of `type: "object"`; none if results have no data.
    pub schema: Option<Value>,
    /// How much of a result the data contain.
    pub scope: DataScope,
}

/// How much of a result its data contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataScope {
    /// Everything that the text says.
    WholeAnswer,
    /// Facts about the text. The text itself is the result; repeating it would double the size.
    FactsAboutText,
}

impl ToolSpec {
    /// One line for a person about a call of which only the raw input is known: the targets, if the
    /// tool says which parameters name them, or else the input itself.
    pub fn describe_input(&self, input: &Value) -> String {
        let title = &self.title;
        let Some(parameters) = input.as_object() else { return title.clone() };
        if self.kind.inputs.is_empty() {
            return format!("{title} {}", shortened(&input.to_string(), MAX_SHOWN_INPUT));
        }
        let named = self.kind.inputs.iter().filter_map(|it| parameters.get(*it));
        let targets: Vec<&str> = named
            .flat_map(|it| match it {
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
                other => Vec::from_iter(other.as_str()),
            })
            .collect();
        match targets.as_slice() {
            [] => title.clone(),
            targets => format!("{title}: {}", shortened(&targets.join(", "), MAX_SHOWN_TARGET)),
        }
    }
}

/// The rule of [`is_valid_name`] in words, for errors.
pub const NAME_RULE: &str = "1 to 64 letters, digits, `_` or `-`";

/// True for names that every provider and MCP client accepts.
pub fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
