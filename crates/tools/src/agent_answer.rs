//! Parses the answer of the host's function that runs agents, and words the ends of agents.

use std::fmt::Display;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolwright_base::{ErrorKind, ToolError, shortened};
use toolwright_core::{AgentRecord, Content, ToolOutput, image_in_words, kind_of};
use toolwright_documents::load_image;
use toolwright_process::{StopReason, Task, TaskState};

/// The maximum size of an agent's usage data, as JSON. Larger data is not usage.
const MAX_USAGE: usize = 16 * 1024;
/// The maximum number of characters of a media type in messages.
const MAX_MIME: usize = 80;
/// Replaces the text of an agent that returned none.
const NO_WORDS: &str = "(the agent gave no answer)";

/// The answer of an agent.
#[derive(Debug, Default)]
pub(super) struct AgentAnswer {
    pub(super) content: Vec<Content>,
    /// The host's own id of the agent.
    pub(super) host_id: Option<String>,
    /// What the agent used, as counted by the host.
    pub(super) usage: Option<Map<String, Value>>,
    /// True if the host reports that the agent failed.
    pub(super) is_error: bool,
}

/// The fields of an answer that is an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerFields {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    usage: Option<Map<String, Value>>,
    #[serde(default)]
    is_error: bool,
}

/// A block of `content`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum AnswerBlock {
    Text { text: String },
    Image { data: String, mime_type: String },
}

impl AgentAnswer {
    /// Parses a text, or `{ text | content, agentId?, usage?, isError? }`.
    pub(super) fn read(answer: Value) -> Result<Self, ToolError> {
        let content = match answer {
            Value::Null => Vec::new(),
            Value::String(text) => vec![Content::text(text)],
            Value::Object(_) => {
                let fields: AnswerFields = serde_json::from_value(answer).map_err(unreadable)?;
                let content = match (fields.text, fields.content) {
                    (Some(text), _) | (None, Value::String(text)) => vec![Content::text(text)],
                    (None, Value::Null) => Vec::new(),
                    (None, Value::Array(blocks)) => blocks_of(blocks)?,
                    (None, other) => {
                        return Err(unreadable(format!("`content` is {}", kind_of(&other))));
                    }
                };
                return Ok(Self {
                    content: without_blanks(content),
                    host_id: fields.agent_id.filter(|it| !it.is_empty()),
                    usage: fields.usage.filter(|it| json!(it).to_string().len() <= MAX_USAGE),
                    is_error: fields.is_error,
                });
            }
            other => return Err(unreadable(format!("it is {}", kind_of(&other)))),
        };
        Ok(Self { content: without_blanks(content), ..Self::default() })
    }

    /// The answer as one text, for the output of a task.
    pub(super) fn text(&self) -> String {
        let words = self.content.iter().map(|block| match block {
            Content::Text { text } => text.clone(),
            Content::Image { data, mime_type } => image_in_words(data, mime_type),
            Content::Other(block) => json!(block).to_string(),
        });
        let text = words.collect::<Vec<_>>().join("\n");
        if text.trim().is_empty() { NO_WORDS.to_owned() } else { text }
    }
}

fn blocks_of(blocks: Vec<Value>) -> Result<Vec<Content>, ToolError> {
    let read = |block: Value| {
        Ok(match serde_json::from_value(block).map_err(unreadable)? {
            AnswerBlock::Text { text } => Content::Text { text },
            AnswerBlock::Image { data, mime_type } => image_of(&data, &mime_type),
        })
    };
    blocks.into_iter().map(read).collect()
}

/// An image that providers accept. With an invalid image, a provider would refuse the whole conversation from
/// then on.
fn image_of(data: &str, said: &str) -> Content {
    let not_shown = |cause: &dyn Display| {
        let said = shortened(said, MAX_MIME);
        Content::text(format!("[an image of the agent ({said}) is not shown: {cause}]"))
    };
    match STANDARD.decode(data) {
        Err(cause) => not_shown(&format!("its data are not base64: {cause}")),
        Ok(bytes) => match load_image(&bytes) {
            Ok(image) => Content::Image { data: image.base64, mime_type: image.mime.to_owned() },
            Err(cause) => not_shown(&cause),
        },
    }
}

/// Removes blank texts, which providers refuse.
fn without_blanks(mut content: Vec<Content>) -> Vec<Content> {
    content.retain(|it| !matches!(it, Content::Text { text } if text.trim().is_empty()));
    content
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass it to map_err")]
fn unreadable(cause: impl ToString) -> ToolError {
    let message = format!(
        "`handlers.spawnAgent` gave an answer that is neither a text nor an object with `text` or \
         `content`: {}",
        cause.to_string()
    );
    ToolError::new(ErrorKind::Agent, message)
}

/// How an agent ended.
#[derive(Debug)]
pub(super) enum AgentOutcome {
    /// It gave an answer.
    Answered(AgentAnswer),
    /// It failed, or its answer could not be read.
    Failed(ToolError),
    /// It was stopped. Its last answer is kept, if there is one.
    Stopped(StopReason, Option<AgentAnswer>),
}

/// The facts about an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentFacts {
    /// The id by which the agent can be resumed.
    agent_id: String,
    /// The kind of agent.
    subagent_type: String,
    /// Whether it is running, or how it ended.
    state: TaskState,
    /// The id of its task, if it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The file with its output, if it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_file: Option<String>,
    /// How long it ran, in milliseconds.
    duration_ms: f64,
    /// What it used, as counted by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Map<String, Value>>,
}

impl AgentFacts {
    fn of(agent: &AgentRecord, task: &Task, state: TaskState) -> Self {
        Self {
            agent_id: agent.id.clone(),
            subagent_type: agent.said.subagent_type.clone(),
            state,
            task_id: None,
            output_file: None,
            duration_ms: (task.duration().as_secs_f64() * 1_000.0).round(),
            usage: None,
        }
    }
}

/// The answer for an agent that now runs in the background.
pub(super) fn started(agent: &AgentRecord, task: &Task) -> ToolOutput<AgentFacts> {
    let (id, task_id) = (&agent.id, &task.id);
    let file = task.output_file();
    let place = file.as_ref().map(|it| format!("; its output goes to `{it}`")).unwrap_or_default();
    let text = format!(
        "agent `{id}` runs in the background as task `{task_id}`{place}\nread its output and status with \
         TaskOutput (task_id `{task_id}`); stop it with TaskStop"
    );
    let facts = AgentFacts {
        task_id: Some(task_id.clone()),
        output_file: file,
        ..AgentFacts::of(agent, task, TaskState::Running)
    };
    with_facts(ToolOutput::text(text), facts)
}

/// The answer for an agent that has ended.
pub(super) fn ended(
    agent: &AgentRecord,
    task: &Task,
    outcome: AgentOutcome,
) -> ToolOutput<AgentFacts> {
    let id = &agent.id;
    let to_resume = format!("to continue it, call this tool with resume `{id}`");
    let (answer, state, words, error) = match outcome {
        AgentOutcome::Answered(answer) if answer.is_error => {
            let error = ToolError::new(ErrorKind::Agent, format!("agent `{id}` failed"));
            (
                Some(answer),
                TaskState::Failed,
                format!("agent `{id}` failed; {to_resume}"),
                Some(error),
            )
        }
        AgentOutcome::Answered(answer) => (
            Some(answer),
            TaskState::Completed,
            format!("agent `{id}` has ended; {to_resume}"),
            None,
        ),
        AgentOutcome::Failed(error) => {
            let words = format!("agent `{id}` failed: {}; {to_resume}", error.message);
            (None, TaskState::Failed, words, Some(error))
        }
        AgentOutcome::Stopped(reason, answer) => {
            let words = format!("agent `{id}` {}; {to_resume}", stopped_words(reason));
            let kind = match reason {
                StopReason::Timeout => ErrorKind::Timeout,
                StopReason::Asked | StopReason::Idle | StopReason::Abandoned => ErrorKind::Agent,
            };
            let message = format!("agent `{id}` {}", stopped_words(reason));
            (answer, TaskState::Stopped, words, Some(ToolError::new(kind, message)))
        }
    };
    let mut facts = AgentFacts::of(agent, task, state);
    let mut content = Vec::new();
    if let Some(answer) = answer {
        if answer.content.is_empty() {
            content.push(Content::text(NO_WORDS));
        }
        content.extend(answer.content);
        facts.usage = answer.usage;
    }
    content.push(Content::text(format!("[{words}]")));
    with_facts(ToolOutput { content, error, names_failure: true, ..ToolOutput::default() }, facts)
}

/// Says why an agent was stopped.
pub(super) const fn stopped_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Timeout => "reached its time limit and was stopped",
        StopReason::Asked | StopReason::Idle | StopReason::Abandoned => "was stopped",
    }
}

fn with_facts(mut output: ToolOutput<AgentFacts>, facts: AgentFacts) -> ToolOutput<AgentFacts> {
    output.meta.insert("toolwright/agent".to_owned(), json!(facts));
    output.with_data(facts)
}
