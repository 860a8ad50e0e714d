//! The messages between members of a team.

use serde::Serialize;

/// A message as its sender writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamLetter {
    /// To one member.
    Direct {
        /// The name of the member.
        to: String,
        /// The text.
        content: String,
        /// A short summary of the text.
        summary: Option<String>,
    },
    /// To every other member.
    Broadcast {
        /// The text.
        content: String,
        /// A short summary of the text.
        summary: Option<String>,
    },
    /// Asks a member to end. Only the lead may send it.
    ShutdownRequest {
        /// The name of the member.
        to: String,
        /// Why it should end.
        reason: Option<String>,
    },
    /// Answers a shutdown request.
    ShutdownResponse {
        /// The id of the request.
        request_id: String,
        /// Whether the member ends.
        approve: bool,
        /// Why it does, or why not.
        reason: Option<String>,
    },
}

/// A message in a mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TeamMessage {
    /// The number of the message in its team, starting at 1.
    pub number: u64,
    /// The team it was sent in.
    pub team: String,
    /// The name of its sender.
    pub from: String,
    /// Its content.
    #[serde(flatten)]
    pub body: MessageBody,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum MessageBody {
    /// A text for this member only.
    Message {
        /// The text.
        content: String,
        /// A short summary of the text.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// A text for every member.
    Broadcast {
        /// The text.
        content: String,
        /// A short summary of the text.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// The lead asks this member to end.
    ShutdownRequest {
        /// The id that the answer must name.
        request_id: String,
        /// Why it should end.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A member answers a shutdown request.
    ShutdownResponse {
        /// The id of the request.
        request_id: String,
        /// Whether the member ends.
        approve: bool,
        /// Why it does, or why not.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl TeamMessage {
    /// The size of its texts in bytes, which counts against the limit of a mailbox.
    pub fn bytes(&self) -> usize {
        let length = |it: &Option<String>| it.as_ref().map_or(0, String::len);
        match &self.body {
            MessageBody::Message { content, summary }
            | MessageBody::Broadcast { content, summary } => content.len() + length(summary),
            MessageBody::ShutdownRequest { request_id, reason }
            | MessageBody::ShutdownResponse { request_id, reason, .. } => {
                request_id.len() + length(reason)
            }
        }
    }
}
