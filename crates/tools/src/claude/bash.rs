//! `Bash`: runs a command in a shell, in the working directory of the conversation.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_process::RunMode;

use crate::commands::{
    CALL_LIMIT, CommandToRun, CommandWording, MAX_TIMEOUT_MS, StartDirectory, checked_command,
};

#[derive(Default)]
pub(super) struct Bash;

/// The `timeout` of a call that does not set it.
const DEFAULT_TIMEOUT_MS: u32 = 120_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The command to run.
    command: String,
    /// How long it may run, in milliseconds. Default: 120000; no limit in the background.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_TIMEOUT_MS))]
    timeout: Option<u32>,
    /// What it does, in five to ten words, for the person who watches.
    #[serde(default)]
    description: Option<String>,
    /// Answer at once with a task id, and let the command run.
    #[serde(default)]
    run_in_background: Option<bool>,
}

impl Tool for Bash {
    type Input = Input;
    type Plan = CommandToRun;

    const NAME: &'static str = "Bash";
    const TITLE: &'static str = "Execute Shell Command";
    const DESCRIPTION: &'static str = concat!(
        include_str!("../description/bash.md"),
        include_str!("../description/command_line.md")
    );
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::runs_commands(&["command"]).naming_its_family();
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<CommandToRun, ToolError> {
        let timeout = input.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        Ok(CommandToRun {
            command: checked_command(input.command)?,
            description: input.description,
            start: StartDirectory::of_session(cx),
            timeout: Duration::from_millis(timeout.into()),
            run_mode: if input.run_in_background == Some(true) {
                RunMode::Background
            } else {
                RunMode::Foreground
            },
            wording: CommandWording::OutputFirst,
        })
    }
}
