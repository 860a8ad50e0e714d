//! `task_output`: reads the output of a background task, and whether it runs or how it ended.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};

use crate::{
    commands::{CALL_LIMIT, MAX_TIMEOUT_MS},
    task_reading::{TaskOutputRequest, TaskToRead},
};

#[derive(Default)]
pub(super) struct ClassicTaskOutput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The id from the answer that started the task.
    task_id: String,
    /// Wait for the end. Default: true.
    #[serde(default)]
    block: Option<bool>,
    /// How long to wait, in milliseconds. Default: 30000.
    #[serde(default)]
    #[schemars(range(max = MAX_TIMEOUT_MS))]
    timeout: Option<u32>,
    /// The byte to read from. Default: where the last call stopped.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    offset: Option<u64>,
}

impl Tool for ClassicTaskOutput {
    type Input = Input;
    type Plan = TaskToRead;

    const NAME: &'static str = "task_output";
    const TITLE: &'static str = "Read Task Output";
    const DESCRIPTION: &'static str = include_str!("../description/task_output.md");
    const SIDE_EFFECT: SideEffect = SideEffect::ReadOnly;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked().twin_of("TaskOutput");
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<TaskToRead, ToolError> {
        let Input { task_id, block, timeout: timeout_ms, offset } = input;
        TaskToRead::of(&TaskOutputRequest { task_id, block, timeout_ms, offset }, cx)
    }
}
