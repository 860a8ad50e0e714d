//! `task_stop`: stops a background task and every process it started.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, DataScope, SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext, ToolOutput};
use toolwright_process::Task;

use crate::{
    command_answer::{TaskFacts, task_of},
    commands::CALL_LIMIT,
    task_stopping,
};

#[derive(Default)]
pub(super) struct ClassicTaskStop;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The id from the answer that started the task.
    task_id: String,
}

impl Tool for ClassicTaskStop {
    type Input = Input;
    type Output = TaskFacts;
    type Plan = Arc<Task>;

    const NAME: &'static str = "task_stop";
    const TITLE: &'static str = "Stop Task";
    const DESCRIPTION: &'static str = include_str!("../description/task_stop.md");
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;
    const SIDE_EFFECT: SideEffect = SideEffect::Blocking;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked().twin_of("TaskStop");
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Arc<Task>, ToolError> {
        task_of(&input.task_id, &cx.session)
    }

    fn accesses(&self, _task: &Arc<Task>) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self, task: &Arc<Task>) -> String {
        task_stopping::describe(task)
    }

    async fn run(
        &self,
        task: Arc<Task>,
        cx: &ToolContext,
    ) -> Result<ToolOutput<TaskFacts>, ToolError> {
        Ok(task_stopping::stop(task, cx).await)
    }
}
