//! Stops a task and every process it started, for the tools `TaskStop` and `task_stop`.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use toolwright_base::{Access, DataScope, ToolError};
use toolwright_core::{CallPlan, ToolContext, ToolOutput};
use toolwright_process::{StopReason, Task, TaskState};

use super::command_answer::{TaskFacts, state_words, task_of};

/// How long to wait for the end of the task after the grace period.
const PATIENCE: Duration = Duration::from_secs(3);

/// A checked call: the task to stop.
pub(super) struct TaskToStop(Arc<Task>);

impl TaskToStop {
    /// Finds the task that the call names.
    pub(super) fn of(task_id: &str, cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(task_of(task_id, &cx.session)?))
    }
}

impl CallPlan for TaskToStop {
    type Output = TaskFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        format!("Stop task {}", self.0.id)
    }

    /// Stops the task, and waits until it has ended.
    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<TaskFacts>, ToolError> {
        let task = self.0;
        let state_before = task.state();
        let grace = cx.session.shared.tasks.settings.grace;
        task.stop(StopReason::Asked, grace);
        let gone = tokio::time::timeout(grace + PATIENCE, task.ended()).await.is_ok();
        let survivors = task.ending().map_or(0, |it| it.survivors);
        let words = match (state_before, gone) {
            (TaskState::Stopped, _) => {
                format!("{}; it was already stopped", state_words(&task))
            }
            (TaskState::Completed | TaskState::Failed, _) => {
                format!("{}, before it could be stopped", state_words(&task))
            }
            (TaskState::Running, false) if task.is_agent() => {
                format!("task `{}` was asked to stop, but its agent is still running", task.id)
            }
            (TaskState::Running, true) if task.is_agent() => {
                format!("{}; so was everything that its agent had started", state_words(&task))
            }
            (TaskState::Running, false) => {
                format!("task `{}` was sent SIGTERM and SIGKILL, but is still running", task.id)
            }
            (TaskState::Running, true) if survivors > 0 => {
                format!("{}; {survivors} of its processes could not be stopped", state_words(&task))
            }
            (TaskState::Running, true) if task.is_contained() => {
                format!("{}; all of its processes have ended", state_words(&task))
            }
            (TaskState::Running, true) => format!(
                "{}; processes that left its process group may still run, because there is no supervisor",
                state_words(&task)
            ),
        };
        let facts = TaskFacts::of(&task);
        let mut output = ToolOutput::text(words);
        output.meta.insert("toolwright/task".to_owned(), json!(facts));
        Ok(output.with_data(facts))
    }
}
