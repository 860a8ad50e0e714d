//! Messages from other members of a team, as a model reads them.
//!
//! An agent whose host does not read its messages gets them with the answer to its next call.

use crate::{
    error::ErrorKind,
    team::{MessageBody, TeamMessage},
    tool::{Content, ToolContext, ToolOutput, whole_lines_within},
};

/// How many bytes of messages come with one answer.
const MAX_BYTES: usize = 100_000;
/// An upper bound for the bytes of the note on messages that come later.
const MAX_NOTE: usize = 100;
/// An upper bound for the bytes of a message in words beside its text.
const MAX_HEAD: usize = 450;

/// Adds the unread messages to the session to an answer, as far as they fit. What did not fit comes later: a
/// message that is taken must not be cut off the answer.
pub(crate) fn add_unread_mail(output: &mut ToolOutput, cx: &ToolContext) {
    // Whoever cancelled the call does not see its answer.
    let is_unseen = |kind| matches!(kind, ErrorKind::Cancelled | ErrorKind::RegistryClosed);
    if output.error.as_ref().is_some_and(|it| is_unseen(it.kind)) {
        return;
    }
    let text = |it: &Content| if let Content::Text { text } = it { text.len() } else { 0 };
    let used = output.content.iter().map(text).sum::<usize>() + MAX_NOTE;
    let mut room = cx.max_result_bytes.saturating_sub(used).min(MAX_BYTES);
    let longest = cx.max_result_bytes / 2;
    let fits = |message: &TeamMessage| match room.checked_sub(in_words(message, longest).len()) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    let (messages, left) = cx.session.shared.teams.take_unread(&cx.session.id, fits);
    output.has_news_in_text |= left > 0 || !messages.is_empty();
    output.content.extend(messages.iter().map(|it| Content::text(in_words(it, longest))));
    if left > 0 {
        let note = format!("[{left} more messages to you come with your next calls]");
        output.content.push(Content::text(note));
    }
}

/// A message in words, with at most so many bytes of its text: a longer one would never fit.
fn in_words(message: &TeamMessage, longest: usize) -> String {
    let from = &message.from;
    let shown = |text: &str| {
        let shown = whole_lines_within(text, longest.saturating_sub(MAX_HEAD));
        let cut = text.len() - shown.len();
        if cut == 0 { text.to_owned() } else { format!("{shown}… [{cut} more bytes]") }
    };
    let because = |reason: &Option<String>| {
        reason.as_ref().map_or(String::new(), |it| format!(": {}", shown(it)))
    };
    match &message.body {
        MessageBody::Message { content, .. } => {
            format!("[message from `{from}` to you]\n{}", shown(content))
        }
        MessageBody::Broadcast { content, .. } => {
            format!("[message from `{from}` to the team]\n{}", shown(content))
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
