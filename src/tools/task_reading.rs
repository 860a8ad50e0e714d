//! Reading what a task has said: what the tools of both sets share.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{
    command_answer::{TaskFacts, output_place, state_words, task_of},
    command_text::{MAX_CHARACTERS, Rest, shown_part},
    failures::UnreadableOutput,
};
use crate::{
    error::ToolError,
    process::Task,
    tool::{ToolContext, ToolOutput},
};

/// How long a call waits where it does not say.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
/// How many bytes are looked at for one answer: as many characters may be four times as many bytes.
const MAX_BYTES: usize = 4 * MAX_CHARACTERS;
/// More bytes than an answer's own words have, beside the state of the task and the place of its output.
const MAX_WORDS: usize = 300;

/// What is known of a task and of the part of its output that is shown.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadOutput {
    #[serde(flatten)]
    task: TaskFacts,
    /// The byte of the output at which the text begins.
    offset: u64,
    /// The byte behind it, where the next part begins.
    next_offset: u64,
}

/// A task whose output is wanted.
pub(super) struct TaskToRead {
    task: Arc<Task>,
    wait: Option<Duration>,
    offset: Option<u64>,
}

/// What a call says of the output it wants.
pub(super) struct TaskOutputRequest {
    pub(super) task_id: String,
    pub(super) block: Option<bool>,
    pub(super) timeout_ms: Option<u32>,
    pub(super) offset: Option<u64>,
}

impl TaskToRead {
    /// Finds the task.
    pub(super) fn of(wanted: &TaskOutputRequest, cx: &ToolContext) -> Result<Self, ToolError> {
        let timeout = wanted.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
        let wait = (wanted.block != Some(false)).then(|| Duration::from_millis(timeout.into()));
        Ok(Self { task: task_of(&wanted.task_id, &cx.session)?, wait, offset: wanted.offset })
    }

    /// One line for a person.
    pub(super) fn describe(&self) -> String {
        format!("Read the output of task {}", self.task.id)
    }
}

/// Reads what the task has said, after waiting for its end if the call wants that.
pub(super) async fn read(
    plan: TaskToRead,
    cx: &ToolContext,
) -> Result<ToolOutput<ReadOutput>, ToolError> {
    let TaskToRead { task, wait, offset } = plan;
    if let Some(wait) = wait {
        // Whether it has ended or the time is up, the answer says what there is.
        let _ = tokio::time::timeout(wait, task.ended()).await;
    }
    // Whoever reads on from the last call does it alone: two would be given the same.
    let place = match offset {
        None => Some(cx.session.shell.reading.lock().await),
        Some(_) => None,
    };
    let from = offset.unwrap_or_else(|| cx.session.shell.read_up_to(&task.id));
    // The state first: a task that has ended says no more, so nothing can be missed.
    let (state, has_ended) = (state_words(&task), task.ending().is_some());
    let reading = Arc::clone(&task);
    let part = cx
        .blocking(move |_| {
            let part = reading.part(from, MAX_BYTES);
            Ok(part.map_err(|cause| UnreadableOutput { task_id: reading.id.clone(), cause })?)
        })
        .await?;
    let total = task.total();
    let rest = match (part.end() < total, has_ended) {
        (true, _) => Rest::Follows,
        (false, false) => Rest::MayCome,
        (false, true) => Rest::IsNone,
    };
    let whereabouts = output_place(&task).map(|it| format!("; {it}")).unwrap_or_default();
    // What is cut off an answer would be missed, and never given again.
    let words = state.len() + whereabouts.len() + MAX_WORDS;
    let (bytes, text) = shown_part(&part.bytes, rest, cx.max_result_bytes.saturating_sub(words));
    let next = part.offset + bytes.len() as u64;
    if place.is_some() {
        cx.session.shell.note_read(&task.id, next, |id| cx.session.shared.tasks.find(id).is_some());
    }
    drop(place);
    let mut answer = state;
    if part.offset > from.min(total) {
        answer.push_str(&format!("\n[bytes {from} to {} were not kept]", part.offset));
    }
    if !text.is_empty() {
        answer.push_str(&format!("\n\n{}", text.trim_end_matches('\n')));
    }
    answer.push_str(&match (total.saturating_sub(next), text.is_empty()) {
        (0, true) => format!("\n[no output beyond byte {next}]"),
        (0, false) => format!("\n[output from byte {} to {next}, which is all so far]", part.offset),
        (more, _) => format!(
            "\n[output from byte {} to {next}; {more} more bytes: call again, or with `offset` {next}{whereabouts}]",
            part.offset,
        ),
    });
    let mut output = ToolOutput::text(answer);
    let task = TaskFacts::of(&task);
    let facts = ReadOutput { task, offset: part.offset, next_offset: next };
    output.meta.insert("toolwright/task".to_owned(), json!(facts));
    Ok(output.with_data(facts))
}
