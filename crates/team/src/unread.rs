//! Messages from other members of a team, as text for a model.
//!
//! If the host does not read an agent's messages, the agent gets them with the answer to its next call.

use toolwright_base::ErrorKind;
use toolwright_core::{Content, ToolContext, ToolOutput, whole_lines_within};

use super::{MessageBody, TeamMessage, Teams};

/// The maximum size of the messages in one answer, in bytes.
const MAX_BYTES: usize = 100_000;
/// An upper bound for the bytes of the note on messages that come later.
const MAX_NOTE: usize = 100;
/// An upper bound for the bytes of a message beside its text.
const MAX_HEAD: usize = 450;

/// Adds the session's unread messages to an answer, as many as fit. The others stay unread, because a message
/// that was taken must not be cut off the answer.
pub(super) fn add_unread(teams: &Teams, output: &mut ToolOutput, cx: &ToolContext) {
    // The answer of a cancelled call is not shown.
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
    let (messages, left) = teams.take_unread(&cx.session.id, fits);
    output.has_news_in_text |= left > 0 || !messages.is_empty();
    output.content.extend(messages.iter().map(|it| Content::text(in_words(it, longest))));
    if left > 0 {
        let note = format!("[{left} more messages to you come with your next calls]");
        output.content.push(Content::text(note));
    }
}

/// A message as text. Its content is cut to `longest` bytes, because a longer one would never fit.
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
