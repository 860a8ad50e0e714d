//! Ending a task and all it started: what the tools of both sets share.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::command_answer::{TaskFacts, state_words};
use crate::{
    process::{StopReason, Task, TaskState},
    tool::{ToolContext, ToolOutput},
};

/// How long the end is waited for, beyond the grace.
const PATIENCE: Duration = Duration::from_secs(3);

/// One line for a person.
pub(super) fn describe(task: &Task) -> String {
    format!("Stop task {}", task.id)
}

/// Stops the task, and answers when it is gone.
pub(super) async fn stop(task: Arc<Task>, cx: &ToolContext) -> ToolOutput<TaskFacts> {
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
        (TaskState::Running, true) if task.is_contained() => {
            format!("{}; nothing of it is left", state_words(&task))
        }
        (TaskState::Running, true) => format!(
            "{}; processes that left its group may go on, as there is no supervisor here",
            state_words(&task)
        ),
    };
    let facts = TaskFacts::of(&task);
    let mut output = ToolOutput::text(words);
    output.meta.insert("toolwright/task".to_owned(), json!(facts));
    output.with_data(facts)
}
