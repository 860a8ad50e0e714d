//! `SendMessage`: writes to members of the team.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, HandlerName, Tool, ToolContext, ToolOutput};
use toolwright_team::TeamLetter;

use crate::team_sending::{self, SentFacts, by_host};

#[derive(Default)]
pub(super) struct SendMessage;

#[derive(Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What to send.
    #[serde(rename = "type")]
    letter_type: LetterType,
    /// The name of the member; needed unless for a broadcast or a `shutdown_response`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipient: Option<String>,
    /// The text; of a shutdown request or its answer, the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The text in a few words, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The id of the shutdown request that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// Whether you end, in a `shutdown_response`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approve: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LetterType {
    /// A text to one member.
    Message,
    /// A text to every other member.
    Broadcast,
    /// Asks a member to end.
    ShutdownRequest,
    /// Answers such a request.
    ShutdownResponse,
}

pub(super) struct Plan {
    letter: TeamLetter,
    /// The input for a coordinator of the host.
    input: Value,
}

impl Tool for SendMessage {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "SendMessage";
    const TITLE: &'static str = "Send Message";
    const DESCRIPTION: &'static str = include_str!("../description/send_message.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Blocking;
    // It reaches only agents that were allowed to start, in the team that the session is in.
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<Plan, ToolError> {
        let whole = json!(input);
        let Input { letter_type, recipient, content, summary, request_id, approve } = input;
        let missing = |name: &str| {
            let message = format!("missing parameter `{name}`, which this `type` needs");
            ToolError::new(ErrorKind::Validation, message)
        };
        let text = |it: Option<String>| {
            it.filter(|it| !it.trim().is_empty()).ok_or_else(|| missing("content"))
        };
        let letter = match letter_type {
            LetterType::Message => TeamLetter::Direct {
                to: recipient.ok_or_else(|| missing("recipient"))?,
                content: text(content)?,
                summary,
            },
            LetterType::Broadcast if recipient.is_some() => {
                let message = "parameter `recipient`: a broadcast goes to every member; \
                               leave it out, or set `type` to `message`";
                return Err(ToolError::new(ErrorKind::Validation, message));
            }
            LetterType::Broadcast => TeamLetter::Broadcast { content: text(content)?, summary },
            LetterType::ShutdownRequest => TeamLetter::ShutdownRequest {
                to: recipient.ok_or_else(|| missing("recipient"))?,
                reason: content,
            },
            LetterType::ShutdownResponse => TeamLetter::ShutdownResponse {
                request_id: request_id.ok_or_else(|| missing("request_id"))?,
                approve: approve.ok_or_else(|| missing("approve"))?,
                reason: content,
            },
        };
        Ok(Plan { letter, input: whole })
    }
}

impl CallPlan for Plan {
    type Output = SentFacts;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let about = |summary: &Option<String>| {
            summary.as_ref().map_or(String::new(), |it| format!(": {it}"))
        };
        match &self.letter {
            TeamLetter::Direct { to, summary, .. } => format!("Write to {to}{}", about(summary)),
            TeamLetter::Broadcast { summary, .. } => format!("Write to the team{}", about(summary)),
            TeamLetter::ShutdownRequest { to, .. } => format!("Ask {to} to end"),
            TeamLetter::ShutdownResponse { approve: true, .. } => "Agree to end".to_owned(),
            TeamLetter::ShutdownResponse { approve: false, .. } => "Refuse to end".to_owned(),
        }
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<SentFacts>, ToolError> {
        if let Some(words) = by_host(HandlerName::TeamSend, &self.input, "sent", cx).await? {
            return Ok(ToolOutput::text(words).with_data(SentFacts::BY_HOST));
        }
        let (words, facts) = team_sending::send(self.letter, cx)?;
        Ok(ToolOutput::text(words).with_data(facts))
    }
}
