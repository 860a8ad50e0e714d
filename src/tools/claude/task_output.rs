//! `TaskOutput`: what a task has said, and whether it has ended.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    error::{ErrorKind, ToolError},
    process::Task,
    tool::{Access, SideEffect, Tool, ToolContext, ToolKind, ToolOutput},
    tools::{
        command_answer::{output_place, state_words, task_facts, task_of},
        command_text::{MAX_CHARACTERS, Rest, shown_part},
        commands::{CALL_LIMIT, MAX_TIMEOUT_MS},
    },
};

#[derive(Default)]
pub(super) struct TaskOutput;

/// How long a call waits where it does not say.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
/// How many bytes are looked at for one answer: as many characters may be four times as many bytes.
const MAX_BYTES: usize = 4 * MAX_CHARACTERS;
/// More bytes than an answer's own words have, beside the state of the task and the place of its output.
const MAX_WORDS: usize = 300;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The id that the call which started the task gave.
    task_id: String,
    /// True, the default, to wait until the task has ended or the time is up; false to answer at once.
    #[serde(default)]
    block: Option<bool>,
    /// How long to wait, in milliseconds: at most 600000, by default 30000.
    #[serde(default)]
    #[schemars(range(max = MAX_TIMEOUT_MS))]
    timeout: Option<u32>,
    /// The byte of the output to read from. Without it, from where the last call without it stopped.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    offset: Option<u64>,
}

pub(super) struct Plan {
    task: Arc<Task>,
    wait: Option<Duration>,
    offset: Option<u64>,
}

impl Tool for TaskOutput {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "TaskOutput";
    const TITLE: &'static str = "Read a task's output";
    const DESCRIPTION: &'static str = include_str!("../description/task_output.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let timeout = input.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        let wait = (input.block != Some(false)).then(|| Duration::from_millis(timeout.into()));
        Ok(Plan { task: task_of(&input.task_id, &cx.session)?, wait, offset: input.offset })
    }

    fn accesses(&self, _plan: &Plan) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self, plan: &Plan) -> String {
        format!("Read the output of task {}", plan.task.id)
    }

    async fn run(&self, plan: Plan, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Plan { task, wait, offset } = plan;
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
                reading.part(from, MAX_BYTES).map_err(|cause| {
                    ToolError::new(
                        ErrorKind::FileRead,
                        format!("the output of `{}` cannot be read: {cause}", reading.id),
                    )
                })
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
            (0, false) => format!("\n[output from byte {} to {next}, which is all so far]", part.offset),
            (more, _) => format!(
                "\n[output from byte {} to {next}; {more} more bytes: call again, or with `offset` {next}{whereabouts}]",
                part.offset,
            ),
        });
        let mut output = ToolOutput::text(answer);
        let mut facts = task_facts(&task);
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("offset".to_owned(), json!(part.offset));
            facts.insert("nextOffset".to_owned(), json!(next));
        }
        output.meta.insert("toolwright/task".to_owned(), facts);
        Ok(output)
    }
}
