//! `task_stop`: stops a background task and every process it started.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};

use crate::{commands::CALL_LIMIT, task_stopping::TaskToStop};

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
    type Plan = TaskToStop;

    const NAME: &'static str = "task_stop";
    const TITLE: &'static str = "Stop Task";
    const DESCRIPTION: &'static str = include_str!("../description/task_stop.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Blocking;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked().twin_of("TaskStop");
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<TaskToStop, ToolError> {
        TaskToStop::of(&input.task_id, cx)
    }
}
