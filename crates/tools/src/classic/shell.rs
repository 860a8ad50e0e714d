//! `shell`: runs a command in a shell, in a directory that the call may choose.

use std::{io, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{EngineError as _, ForModel as _, Tool, ToolContext};
use toolwright_files::{PathError, RelativePaths};
use toolwright_process::RunMode;

use crate::commands::{
    CALL_LIMIT, CommandToRun, CommandWording, MAX_TIMEOUT_MS, StartDirectory, checked_command,
};

#[derive(Default)]
pub(super) struct Shell;

/// The `timeout` of a call that does not set it.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The command to run.
    command: String,
    /// The directory to run it in. Default: where the last command without it ended up; at first, the
    /// workspace.
    #[serde(default)]
    cwd: Option<String>,
    /// How long it may run, in milliseconds. Default: 30000; no limit in the background.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_TIMEOUT_MS))]
    timeout: Option<u32>,
    /// Answer at once with a task id, and let the command run.
    #[serde(default)]
    background: Option<bool>,
}

impl Tool for Shell {
    type Input = Input;
    type Plan = CommandToRun;

    const NAME: &'static str = "shell";
    const TITLE: &'static str = "Execute Shell Command";
    const DESCRIPTION: &'static str = concat!(
        include_str!("../description/shell.md"),
        include_str!("../description/command_line.md")
    );
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::runs_commands(&["command"]).twin_of("Bash");
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<CommandToRun, ToolError> {
        let timeout = input.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        let start = match &input.cwd {
            Some(asked) => {
                let place = cx
                    .session
                    .shared
                    .files
                    .roots
                    .resolve(asked, RelativePaths::FromFirstRoot)
                    .for_model()?;
                let metadata = place
                    .absolute()
                    .metadata()
                    .map_err(|cause| PathError::Unresolvable(asked.clone(), cause))
                    .for_model()?;
                if !metadata.is_dir() {
                    let cause = io::ErrorKind::NotADirectory.into();
                    return Err(PathError::Unresolvable(asked.clone(), cause).into_tool_error());
                }
                StartDirectory::own(place.absolute().to_owned())
            }
            None => StartDirectory::of_session(cx),
        };
        Ok(CommandToRun {
            command: checked_command(input.command)?,
            description: None,
            start,
            timeout: Duration::from_millis(timeout.into()),
            run_mode: if input.background == Some(true) {
                RunMode::Background
            } else {
                RunMode::Foreground
            },
            wording: CommandWording::CodeFirst,
        })
    }
}
