//! `memory`: named texts that outlast a conversation, for a project or for all projects of the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind, shown_text};
use toolwright_core::{CallPlan, Content, Tool, ToolContext, ToolOutput};
use toolwright_store::{KeyPage, Memories, MemoryScope, StateError};

use crate::{
    failures::FailedState,
    listing::{lines_and_notes, lines_that_fit},
};

#[derive(Default)]
pub(super) struct Memory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What to do.
    action: MemoryAction,
    /// The name of the memory, for get, set and delete.
    #[serde(default)]
    key: Option<String>,
    /// The text to store, for set. It replaces the old one.
    #[serde(default)]
    value: Option<String>,
    /// Where the memory belongs. Default: project.
    #[serde(default)]
    scope: Option<MemoryScope>,
    /// For list: only keys that begin with this.
    #[serde(default)]
    prefix: Option<String>,
    /// For list: only keys after this one, which is the last that an earlier list showed.
    #[serde(default)]
    after: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MemoryAction {
    Get,
    Set,
    Delete,
    List,
}

impl MemoryAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }
}

/// What was done, and what was found.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemoryData {
    /// Where the memory belongs, or the memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<MemoryScope>,
    /// The key that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Whether there was such a key before.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<bool>,
    /// For get: the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// For list: the keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<String>>,
    /// For list: the number of keys, or a lower bound if there are too many to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Whether all keys are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

pub(super) struct Plan {
    step: MemoryStep,
    scope: MemoryScope,
    /// The location of the store, for display.
    location: String,
}

/// An action with its parameters.
enum MemoryStep {
    Get { key: String },
    Set { key: String, value: String },
    Delete { key: String },
    List { prefix: String, after: Option<String> },
}

impl Tool for Memory {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "memory";
    const TITLE: &'static str = "Persistent Memory";
    const DESCRIPTION: &'static str = include_str!("../description/memory.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::PLAIN;

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let Input { action, key, value, scope, prefix, after } = input;
        let wrong = |message: String| ToolError::new(ErrorKind::Memory, message);
        let key = key.filter(|it| !it.is_empty());
        let needs_key = || wrong(format!("Key required for {} action", action.as_str()));
        let step = match action {
            MemoryAction::Get => MemoryStep::Get { key: key.ok_or_else(needs_key)? },
            MemoryAction::Delete => MemoryStep::Delete { key: key.ok_or_else(needs_key)? },
            MemoryAction::Set => match (key, value.filter(|it| !it.is_empty())) {
                (Some(key), Some(value)) => MemoryStep::Set { key, value },
                _ => return Err(wrong("Key and value required for set action".to_owned())),
            },
            MemoryAction::List => MemoryStep::List { prefix: prefix.unwrap_or_default(), after },
        };
        for name in step.names() {
            Memories::check_key(name).map_err(failed)?;
        }
        let location = cx.session.shared.stored.store.location();
        Ok(Plan { step, scope: scope.unwrap_or_default(), location })
    }
}

impl CallPlan for Plan {
    type Output = MemoryData;

    fn side_effect(&self) -> Option<SideEffect> {
        match self.step {
            MemoryStep::Get { .. } | MemoryStep::List { .. } => Some(SideEffect::ReadOnly),
            MemoryStep::Set { .. } | MemoryStep::Delete { .. } => Some(SideEffect::Mutating),
        }
    }

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn locations(&self, _accesses: &[Access]) -> Vec<String> {
        vec![self.location.clone()]
    }

    fn describe(&self) -> String {
        match &self.step {
            MemoryStep::Get { key } => format!("Memory get {key}"),
            MemoryStep::Set { key, .. } => format!("Memory set {key}"),
            MemoryStep::Delete { key } => format!("Memory delete {key}"),
            MemoryStep::List { .. } => "Memory list".to_owned(),
        }
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<MemoryData>, ToolError> {
        let Self { step, scope, .. } = self;
        let memories = cx.session.shared.stored.memories(scope);
        let about = |key: String| MemoryData {
            scope: Some(scope),
            key: Some(key),
            ..MemoryData::default()
        };
        Ok(match step {
            MemoryStep::Get { key } => {
                let value = memories.get(&key).await.map_err(failed)?;
                let (text, display) = match &value {
                    Some(value) => (value.clone(), format!("Retrieved {}", shown_text(&key))),
                    None => ("Key not found".to_owned(), "Key not found".to_owned()),
                };
                let data = MemoryData { found: Some(value.is_some()), value, ..about(key) };
                ToolOutput::text(text).with_data(data).with_display(display)
            }
            MemoryStep::Set { key, value } => {
                cx.commitment.commit()?;
                memories.set(&key, &value).await.map_err(failed)?;
                changed("Stored", &key).with_data(about(key))
            }
            MemoryStep::Delete { key } => {
                cx.commitment.commit()?;
                let found = memories.delete(&key).await.map_err(failed)?;
                let mut output = changed("Deleted", &key);
                if !found {
                    output.content.push(Content::text("[there was no such key]"));
                }
                output.with_data(MemoryData { found: Some(found), ..about(key) })
            }
            MemoryStep::List { prefix, after } => {
                let page = memories.keys(&prefix, after.as_deref()).await.map_err(failed)?;
                listed(page, scope, &prefix, after.as_deref())
            }
        })
    }
}

impl MemoryStep {
    fn names(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Self::Get { key } | Self::Set { key, .. } | Self::Delete { key } => (key, None),
            Self::List { prefix, after } => (prefix, after.as_ref()),
        };
        std::iter::once(first).chain(second).map(String::as_str)
    }
}

fn changed(done: &str, key: &str) -> ToolOutput<MemoryData> {
    ToolOutput::text(format!("{done} {key}")).with_display(format!("{done} {}", shown_text(key)))
}

fn failed(error: StateError) -> ToolError {
    FailedState { error, tool_kind: ErrorKind::Memory }.into()
}

fn listed(
    page: KeyPage,
    scope: MemoryScope,
    prefix: &str,
    after: Option<&str>,
) -> ToolOutput<MemoryData> {
    let KeyPage { mut keys, total, is_counted } = page;
    let lines = lines_that_fit(keys.iter().map(|it| key_line(it)));
    let shown = lines.len();
    keys.truncate(shown);
    let complete = is_counted && shown == total;
    let mut notes = Vec::new();
    match keys.last() {
        None if after.is_some() => {
            notes.push("no keys come after that one".to_owned());
        }
        None if prefix.is_empty() => {
            notes.push(format!("no keys in the scope {}", scope.as_str()));
        }
        None => {
            notes.push(format!("no keys in the scope {} begin with the prefix", scope.as_str()));
        }
        Some(last) if !complete => {
            let at_least = if is_counted { "" } else { "more than " };
            notes.push(format!(
                "showing {shown} of {at_least}{total} keys; set after to {} for the next, or a longer prefix",
                key_line(last)
            ));
        }
        Some(_) => {}
    }
    if keys.iter().zip(&lines).any(|(key, line)| key != line) {
        notes.push("keys in quotes are JSON strings".to_owned());
    }
    let content = lines_and_notes(&lines, &notes);
    let data = MemoryData {
        scope: Some(scope),
        keys: Some(keys),
        total: Some(total),
        complete: Some(complete),
        ..MemoryData::default()
    };
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }
        .with_display(format!("{total} keys"))
}

/// A key as one line. A key that cannot be shown as one line unchanged, or that could be mistaken for one of
/// our notes, becomes a JSON string.
fn key_line(key: &str) -> String {
    let is_plain = !key
        .contains(|it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}'))
        && !key.starts_with(['"', '['])
        && key.trim() == key;
    if is_plain { key.to_owned() } else { serde_json::Value::from(key).to_string() }
}
