//! The description of a tool: its name, text and schema for models, and its effects for policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ToolKind;

/// How much of a raw input is shown to a person.
const MAX_SHOWN_INPUT: usize = 120;

/// How much of a path, a command or a URL in one is.
const MAX_SHOWN_TARGET: usize = 1_000;

/// The kind of trace a tool leaves in the world.
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

/// Who says what a tool's annotations say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintsFrom {
    /// The host, about a tool of its own.
    Host,
    /// An MCP server, which nobody here vouches for.
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

    /// What a tool leaves behind when nothing but its hints is known, and by that its risk. This is the one
    /// place where hints are judged. A tool that says nothing is taken for the worse.
    ///
    /// Both hints at once contradict each other. To MCP a read-only tool is never destructive, and a host is
    /// believed that; of a server, the worse half is believed.
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

/// Everything a model, a host or the policy learns about a tool.
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
    /// What is known of the data of its answers; nothing of a host's tool.
    pub output: Option<OutputSpec>,
    /// What it leaves behind.
    pub side_effect: SideEffect,
    /// The kind of tool, which rules follow from.
    pub kind: ToolKind,
    /// MCP's hints about the tool.
    pub annotations: Annotations,
    /// Whether a model has to know of it from the beginning, where hosts let models search for tools. Nothing
    /// where that is left to where it comes from.
    pub always_load: Option<bool>,
}

/// What programs learn about the data of a tool's answers.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// JSON Schema of the data, always of `type: "object"`; nothing where answers have none.
    pub schema: Option<Value>,
    /// How much of an answer they say.
    pub scope: DataScope,
}

/// How much of an answer its data say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataScope {
    /// All that the text says.
    WholeAnswer,
    /// Facts about the text, which is the answer itself: repeated, it would be twice as long.
    FactsAboutText,
}

impl ToolSpec {
    /// One line for a person on a call of which nothing is known but the raw input: what it is to touch,
    /// where the tool says which parameters name that, and else the input itself.
    pub fn describe_input(&self, input: &Value) -> String {
        let title = &self.title;
        let Some(parameters) = input.as_object() else { return title.clone() };
        if self.kind.inputs.is_empty() {
            return format!("{title} {}", beginning(&input.to_string(), MAX_SHOWN_INPUT));
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
            targets => format!("{title}: {}", beginning(&targets.join(", "), MAX_SHOWN_TARGET)),
        }
    }
}

fn beginning(text: &str, characters: usize) -> String {
    let shown: String = text.chars().take(characters).collect();
    let cut = if shown.len() < text.len() { "…" } else { "" };
    shown + cut
}

/// The rule of [`is_valid_name`] in words, for errors.
pub(crate) const NAME_RULE: &str = "1 to 64 letters, digits, `_` or `-`";

/// True for names that every provider and MCP client accepts.
pub fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
