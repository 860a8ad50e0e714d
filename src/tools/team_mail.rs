//! Messages from other members of a team, as a model reads them.
//!
//! An agent whose host does not read its messages gets them with the answer to its next call.

use crate::{
    error::ErrorKind,
    team::{MessageBody, TeamMessage},
    tool::{Content, ToolContext, ToolOutput},
};

/// How many bytes of messages come with one answer.
const MAX_BYTES: usize = 100_000;
/// An upper bound for the bytes of an answer that its messages have beside their texts.
const MAX_WORDS: usize = 1_000;

/// Adds the unread messages to the session to an answer, as far as they fit.
pub(crate) fn add_unread_mail(output: &mut ToolOutput, cx: &ToolContext) {
    // Whoever cancelled the call does not see its answer.
    let is_unseen = |kind| matches!(kind, ErrorKind::Cancelled | ErrorKind::RegistryClosed);
    if output.error.as_ref().is_some_and(|it| is_unseen(it.kind)) {
        return;
    }
    let text = |it: &Content| if let Content::Text { text } = it { text.len() } else { 0 };
    let used: usize = output.content.iter().map(text).sum::<usize>() + MAX_WORDS;
    let room = cx.max_result_bytes.saturating_sub(used).min(MAX_BYTES);
    let (messages, left) = cx.session.shared.teams.take_unread(&cx.session.id, room);
    output.content.extend(messages.iter().map(|it| Content::text(in_words(it))));
    if left > 0 {
        let note = format!("[{left} more messages to you come with your next calls]");
        output.content.push(Content::text(note));
    }
}

fn in_words(message: &TeamMessage) -> String {
    let from = &message.from;
    let because =
        |reason: &Option<String>| reason.as_ref().map_or(String::new(), |it| format!(": {it}"));
    match &message.body {
        MessageBody::Message { content, .. } => {
            format!("[message from `{from}` to you]\n{content}")
        }
        MessageBody::Broadcast { content, .. } => {
            format!("[message from `{from}` to the team]\n{content}")
        }
        MessageBody::ShutdownRequest { request_id, reason } => format!(
            "[`{from}` asks you to end; answer with SendMessage, `type` shutdown_response, `request_id` {request_id}]{}",
            because(reason)
        ),
        MessageBody::ShutdownResponse { approve: true, reason, .. } => {
            format!("[`{from}` has ended, as you asked]{}", because(reason))
        }
        MessageBody::ShutdownResponse { approve: false, reason, .. } => {
            format!("[`{from}` does not end yet]{}", because(reason))
        }
    }
}
