//! Passes the work of the team tools to the registry's own coordinator, or to the host's.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{ForModel as _, HandlerName, ToolContext, kind_of};
use toolwright_team::{RecipientState, SentLetter, TeamLetter, Teams};

/// The recipients of a message.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SentFacts {
    /// The recipients; unknown if the host has its own coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<Recipient>>,
    /// The id that the answer to a shutdown request will name.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

/// A member that gets a message.
#[derive(Serialize, JsonSchema)]
struct Recipient {
    name: String,
    /// Whether its agent runs.
    running: bool,
}

/// Calls the host's own coordinator, if there is one. Returns the text for the model.
pub(super) async fn by_host(
    name: HandlerName,
    input: &Value,
    otherwise: &str,
    cx: &ToolContext,
) -> Result<Option<String>, ToolError> {
    let Some(handler) = cx.handlers.get(name) else { return Ok(None) };
    Ok(Some(match handler.call(input, Value::Null, cx).await? {
        Value::Null => otherwise.to_owned(),
        Value::String(words) => words,
        Value::Object(answer) => {
            answer.get("message").and_then(Value::as_str).unwrap_or(otherwise).to_owned()
        }
        other => {
            let got = kind_of(&other);
            let message = format!(
                "`handlers.{}` must answer with nothing, a text or `{{ message }}`, got {got}",
                name.as_str()
            );
            return Err(ToolError::new(ErrorKind::ToolFailed, message));
        }
    }))
}

/// Sends a letter through the registry's own coordinator.
pub(super) fn send(letter: TeamLetter, cx: &ToolContext) -> Result<(String, SentFacts), ToolError> {
    let kind = LetterKind::of(&letter);
    let sent = Teams::existing(&cx.session.shared).send(&cx.session.id, letter).for_model()?;
    let words = kind.in_words(&sent);
    let recipient = |(name, state): (String, RecipientState)| Recipient {
        name,
        running: state == RecipientState::Running,
    };
    let recipients = Some(sent.to.into_iter().map(recipient).collect());
    Ok((words, SentFacts { recipients, request_id: sent.request_id }))
}

impl SentFacts {
    /// The facts about a message that the host's coordinator has sent.
    pub(super) const BY_HOST: Self = Self { recipients: None, request_id: None };
}

/// The kind of a letter that was sent.
enum LetterKind {
    Text,
    Request,
    Agreement,
    Refusal,
}

impl LetterKind {
    fn of(letter: &TeamLetter) -> Self {
        match letter {
            TeamLetter::Direct { .. } | TeamLetter::Broadcast { .. } => Self::Text,
            TeamLetter::ShutdownRequest { .. } => Self::Request,
            TeamLetter::ShutdownResponse { approve: true, .. } => Self::Agreement,
            TeamLetter::ShutdownResponse { approve: false, .. } => Self::Refusal,
        }
    }

    fn in_words(&self, sent: &SentLetter) -> String {
        let names = |state: Option<RecipientState>| {
            let wanted = sent.to.iter().filter(|it| state.is_none_or(|state| it.1 == state));
            wanted.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let everybody = names(None);
        match (self, &sent.request_id) {
            (Self::Text, _) => {
                let idle = names(Some(RecipientState::Idle));
                let note =
                    "which no agent reads now; it is kept until one is resumed under that name";
                let note = if idle.is_empty() {
                    String::new()
                } else {
                    format!("; not running: {idle}, {note}")
                };
                format!("sent to {everybody}{note}")
            }
            (Self::Request, Some(id)) => {
                format!("asked {everybody} to end; the answer will name the request `{id}`")
            }
            (Self::Request, None) => format!("{everybody} was not running, and is shut down now"),
            (Self::Agreement, _) => format!("informed {everybody} that you end; finish now"),
            (Self::Refusal, _) => format!("informed {everybody} that you do not end yet"),
        }
    }
}
