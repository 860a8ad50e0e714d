//! `TaskStop`: ends a task and all it started.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    process::{StopReason, Task},
    tool::{Access, SideEffect, Tool, ToolContext, ToolOutput},
    tools::{
        command_answer::{state_words, task_facts, task_of},
        commands::CALL_LIMIT,
    },
};

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
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Arc<Task>, ToolError> {
        task_of(&input.task_id, &cx.session.tasks)
    }

    fn accesses(&self, _task: &Arc<Task>) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self, task: &Arc<Task>) -> String {
        format!("Stop task {}", task.id)
    }

    async fn run(&self, task: Arc<Task>, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let was_running = task.ending().is_none();
        let grace = cx.session.tasks.settings.grace;
        task.stop(StopReason::Asked, grace);
        let gone = tokio::time::timeout(grace + PATIENCE, task.ended()).await.is_ok();
        let words = match (was_running, gone) {
            (true, true) => format!("{}; nothing of it is left", state_words(&task)),
            (true, false) => {
                format!("task `{}` was told to stop and killed, and is not gone yet", task.id)
            }
            (false, _) => format!("{}, before it could be stopped", state_words(&task)),
        };
        let mut output = ToolOutput::text(words);
        output.meta.insert("toolwright/task".to_owned(), task_facts(&task));
        Ok(output)
    }
}
