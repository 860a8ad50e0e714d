//! `TaskStop`: ends a task and all it started.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    process::{StopReason, Task, TaskState},
    tool::{Access, SideEffect, Tool, ToolContext, ToolKind, ToolOutput},
    tools::{
        command_answer::{state_words, task_facts, task_of},
        commands::CALL_LIMIT,
    },
};

#[derive(Default)]
pub(super) struct TaskStop;

/// How long the end is waited for, beyond the grace.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The id that the call which started the task gave.
    task_id: String,
}

impl Tool for TaskStop {
    type Input = Input;
    type Plan = Arc<Task>;

    const NAME: &'static str = "TaskStop";
    const TITLE: &'static str = "Stop a task";
    const DESCRIPTION: &'static str = include_str!("../description/task_stop.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Blocking;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Arc<Task>, ToolError> {
        task_of(&input.task_id, &cx.session)
    }

    fn accesses(&self, _task: &Arc<Task>) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self, task: &Arc<Task>) -> String {
        format!("Stop task {}", task.id)
    }

    async fn run(&self, task: Arc<Task>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let state_before = task.state();
        let grace = cx.session.shared.tasks.settings.grace;
        task.stop(StopReason::Asked, grace);
        let gone = tokio::time::timeout(grace + PATIENCE, task.ended()).await.is_ok();
        let survivors = task.ending().map_or(0, |it| it.survivors);
        let words = match (state_before, gone) {
            (TaskState::Stopped, _) => {
                format!("{}; it had been stopped before", state_words(&task))
            }
            (TaskState::Completed | TaskState::Failed, _) => {
                format!("{}, before it could be stopped", state_words(&task))
            }
            (TaskState::Running, false) => {
                format!("task `{}` was told to stop and killed, and is not gone yet", task.id)
            }
            (TaskState::Running, true) if survivors > 0 => {
                format!("{}; {survivors} of its processes could not be stopped", state_words(&task))
            }
            (TaskState::Running, true) if task.contained => {
                format!("{}; nothing of it is left", state_words(&task))
            }
            (TaskState::Running, true) => format!(
                "{}; processes that left its group may go on, as there is no supervisor here",
                state_words(&task)
            ),
        };
        let mut output = ToolOutput::text(words);
        output.meta.insert("toolwright/task".to_owned(), task_facts(&task));
        Ok(output)
    }
}
