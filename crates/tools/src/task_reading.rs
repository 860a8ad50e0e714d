//! Reads the output of a task for the tools `TaskOutput` and `task_output`.
//!
//! Each call continues where the last one of the same conversation stopped, unless it names an offset.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use toolwright_base::{Access, DataScope, ToolError};
use toolwright_core::{CallPlan, ToolContext, ToolOutput};
use toolwright_process::{MAX_CHARACTERS, Task, rest_of, shown_part};

use super::{
    command_answer::{TaskFacts, output_place, state_words, task_of},
    failures::UnreadableOutput,
};

/// How long a call waits for the end of the task by default.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
/// The number of bytes that are read for one answer. A character has at most four.
const MAX_BYTES: usize = 4 * MAX_CHARACTERS;
/// An upper bound for the bytes of an answer beside the output, the state of the task and its output file.
const MAX_WORDS: usize = 300;

/// The facts about a task and about the part of its output that is shown.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadOutput {
    #[serde(flatten)]
    task: TaskFacts,
    /// The offset of the shown part in the output, in bytes.
    offset: u64,
    /// The offset of the next part, in bytes.
    next_offset: u64,
}

/// A checked call: the task to read, and from where.
pub(super) struct TaskToRead {
    task: Arc<Task>,
    wait: Option<Duration>,
    offset: Option<u64>,
}

/// The parameters of a call, whose names differ between the sets.
pub(super) struct TaskOutputRequest {
    pub(super) task_id: String,
    pub(super) block: Option<bool>,
    pub(super) timeout_ms: Option<u32>,
    pub(super) offset: Option<u64>,
}

impl TaskToRead {
    /// Finds the task that the call names.
    pub(super) fn of(wanted: &TaskOutputRequest, cx: &ToolContext) -> Result<Self, ToolError> {
        let timeout = wanted.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
        let wait = (wanted.block != Some(false)).then(|| Duration::from_millis(timeout.into()));
        Ok(Self { task: task_of(&wanted.task_id, &cx.session)?, wait, offset: wanted.offset })
    }
}

impl CallPlan for TaskToRead {
    type Output = ReadOutput;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        format!("Read the output of task {}", self.task.id)
    }

    /// Reads output of the task, after waiting for its end if the call asks for that.
    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<ReadOutput>, ToolError> {
        let Self { task, wait, offset } = self;
        if let Some(wait) = wait {
            // The answer is the same whether the task ended or the time was up.
            let _ = tokio::time::timeout(wait, task.ended()).await;
        }
        // Two calls that continue from the last one must not get the same output.
        let place = match offset {
            None => Some(cx.session.shell.reading.lock().await),
            Some(_) => None,
        };
        let from = offset.unwrap_or_else(|| cx.session.shell.read_up_to(&task.id));
        // The state is read before the output, so that the output of an ended task is complete.
        let (state, has_ended) = (state_words(&task), task.ending().is_some());
        let reading = Arc::clone(&task);
        let part = cx
            .blocking(move |_| {
                let part = reading.part(from, MAX_BYTES);
                Ok(part.map_err(|cause| UnreadableOutput { task_id: reading.id.clone(), cause })?)
            })
            .await?;
        let total = task.total();
        let rest = rest_of(part.end(), total, has_ended);
        let whereabouts = output_place(&task).map(|it| format!("; {it}")).unwrap_or_default();
        // The part has to fit: output that is cut off the answer would never be shown by a later call.
        let words = state.len() + whereabouts.len() + MAX_WORDS;
        let (bytes, text) =
            shown_part(&part.bytes, rest, cx.max_result_bytes.saturating_sub(words));
        let next = part.offset + bytes.len() as u64;
        if place.is_some() {
            cx.session
                .shell
                .note_read(&task.id, next, |id| cx.session.shared.tasks.find(id).is_some());
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
            (0, false) => format!("\n[output from byte {} to {next}, all so far]", part.offset),
            (more, _) => format!(
                "\n[output from byte {} to {next}; {more} more bytes; call again, or with `offset` {next}{whereabouts}]",
                part.offset,
            ),
        });
        let mut output = ToolOutput::text(answer);
        let task = TaskFacts::of(&task);
        let facts = ReadOutput { task, offset: part.offset, next_offset: next };
        output.meta.insert("toolwright/task".to_owned(), json!(facts));
        Ok(output.with_data(facts))
    }
}
