//! `Bash`: a command in a shell.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    process::RunMode,
    tool::{Access, SideEffect, Tool, ToolContext, ToolKind, ToolOutput},
    tools::commands::{
        self, CALL_LIMIT, CommandToRun, MAX_TIMEOUT_MS, StartingPlace, Wording, checked_command,
        describe,
    },
};

#[derive(Default)]
pub(super) struct Bash;

/// How long a command may run where the call does not say.
const DEFAULT_TIMEOUT_MS: u32 = 120_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The command to run, in bash.
    command: String,
    /// How long it may run, in milliseconds: at most 600000, by default 120000. Does not apply in the
    /// background.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_TIMEOUT_MS))]
    timeout: Option<u32>,
    /// What the command does, in five to ten words, for the person who watches.
    #[serde(default)]
    description: Option<String>,
    /// True to go on at once and let the command run; `TaskOutput` reads what it says.
    #[serde(default)]
    run_in_background: Option<bool>,
}

impl Tool for Bash {
    type Input = Input;
    type Plan = CommandToRun;

    const NAME: &'static str = "Bash";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = include_str!("../description/bash.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::runs_commands(&["command"]).naming_its_family();
    const TIMEOUT: Option<Duration> = Some(CALL_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<CommandToRun, ToolError> {
        let timeout = input.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        Ok(CommandToRun {
            command: checked_command(input.command)?,
            description: input.description,
            start: StartingPlace::of_session(cx),
            timeout: Duration::from_millis(timeout.into()),
            run_mode: if input.run_in_background == Some(true) {
                RunMode::Background
            } else {
                RunMode::Foreground
            },
            wording: Wording::OutputFirst,
        })
    }

    fn accesses(&self, plan: &CommandToRun) -> Vec<Access> {
        vec![Access::Run(plan.command.clone())]
    }

    fn directory<'p>(&self, plan: &'p CommandToRun) -> Option<&'p Path> {
        Some(&plan.start.path)
    }

    fn describe(&self, plan: &CommandToRun) -> String {
        describe(plan)
    }

    async fn run(&self, plan: CommandToRun, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        commands::run(plan, cx).await
    }
}
