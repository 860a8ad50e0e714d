//! Running a command for a tool: what the tools of both sets share.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::command_answer::{CommandFacts, ended, started, stuck};
use crate::{
    error::{ErrorKind, ToolError},
    process::{
        CommandEnding, CommandRole, CommandSpec, ForegroundCommand, ForegroundOutcome,
        MAX_COMMAND_BYTES, RunMode,
    },
    tool::{ToolContext, ToolOutput, shown_path, shown_text},
    workspace::real_place,
};

/// A command that is about to run.
pub(super) struct CommandToRun {
    pub(super) command: String,
    pub(super) description: Option<String>,
    /// Where it runs: policy judges it there.
    pub(super) start: StartingPlace,
    pub(super) timeout: Duration,
    pub(super) run_mode: RunMode,
    pub(super) wording: CommandWording,
}

/// Where a command runs.
pub(super) struct StartingPlace {
    pub(super) path: PathBuf,
    /// A place of the call's own; the conversation's is then left alone.
    is_own: bool,
    /// Why it is not where the last command ended up.
    note: Option<String>,
}

impl StartingPlace {
    /// A place that the call names.
    pub(super) fn own(path: PathBuf) -> Self {
        Self { path, is_own: true, note: None }
    }

    /// Where the conversation's commands run; back to the workspace where that place is gone.
    pub(super) fn of_session(cx: &ToolContext) -> Self {
        let cwd = cx.session.shell.cwd();
        if cwd.is_dir() {
            return Self { path: cwd, is_own: false, note: None };
        }
        let path = cx.session.shared.roots.first().to_owned();
        let note = format!(
            "the working directory `{}` is gone; the command ran in `{}`",
            shown_path(&cwd),
            shown_path(&path)
        );
        Self { path, is_own: false, note: Some(note) }
    }
}

/// How an answer is put.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandWording {
    /// The output, and the exit code behind it.
    OutputFirst,
    /// The exit code, and the output below it.
    CodeFirst,
}

impl CommandWording {
    /// The tools of the set for what runs in the background: the one that reads, its parameter for the
    /// id, the one that stops.
    pub(super) const fn task_tools(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OutputFirst => ("TaskOutput", "task_id", "TaskStop"),
            Self::CodeFirst => ("task_output", "taskId", "task_stop"),
        }
    }
}

/// The longest a command may be given.
pub(super) const MAX_TIMEOUT_MS: u32 = 600_000;
/// How long a call may take: the longest command, a host's longest grace, and some air.
pub(super) const CALL_LIMIT: Duration = Duration::from_secs(600 + 60 + 30);

/// Refuses what cannot be handed to a shell.
pub(super) fn checked_command(command: String) -> Result<String, ToolError> {
    let wrong = |what: String| {
        Err(ToolError::new(ErrorKind::Validation, format!("parameter `command`: {what}")))
    };
    if command.trim().is_empty() {
        return wrong("expected a command, got an empty text".to_owned());
    }
    if command.contains('\0') {
        return wrong("it has a NUL character, which no command can have".to_owned());
    }
    if command.len() > MAX_COMMAND_BYTES {
        return wrong(format!(
            "it has {} bytes, and at most {MAX_COMMAND_BYTES} can be run; write it to a file and run that",
            command.len()
        ));
    }
    Ok(command)
}

/// One line for a person.
pub(super) fn describe(plan: &CommandToRun) -> String {
    let how = match plan.run_mode {
        RunMode::Foreground => "",
        RunMode::Background => " in the background",
    };
    format!("Execute{how}: {}", shown_text(&plan.command))
}

/// Runs a command, or starts it as a task.
pub(super) async fn run(
    plan: CommandToRun,
    cx: &ToolContext,
) -> Result<ToolOutput<CommandFacts>, ToolError> {
    let manager = &cx.session.shared.tasks;
    let mut notes: Vec<String> = plan.start.note.clone().into_iter().collect();
    let task = manager
        .launch(CommandSpec {
            role: CommandRole::Model,
            command: plan.command.clone(),
            description: plan.description.clone(),
            cwd: plan.start.path.clone(),
            session_id: cx.session.id.clone(),
            run_mode: plan.run_mode,
            is_streamed: plan.run_mode == RunMode::Foreground && cx.progress.is_watched(),
        })
        .await
        .map_err(not_started)?;
    if plan.run_mode == RunMode::Background {
        return Ok(started(&task, plan.wording, notes));
    }
    let foreground = ForegroundCommand::of(Arc::clone(manager), Arc::clone(&task));
    let outcome = if cx.progress.is_watched() {
        let tell = async |text: String| {
            cx.output(text);
            cx.progress.caught_up().await;
        };
        foreground.outcome_with_output(plan.timeout, tell).await
    } else {
        foreground.outcome(plan.timeout).await
    };
    match outcome {
        ForegroundOutcome::Background => {
            notes.push(format!(
                "it was not done after {} ms and goes on in the background",
                plan.timeout.as_millis()
            ));
            Ok(started(&task, plan.wording, notes))
        }
        ForegroundOutcome::Stuck(reason) => {
            Ok(ended(&plan, &task, &stuck(&task, reason), notes, cx))
        }
        ForegroundOutcome::Ended(ending) => {
            if !plan.start.is_own {
                follow_cwd(&plan.start.path, &ending, cx, &mut notes);
            }
            Ok(ended(&plan, &task, &ending, notes, cx))
        }
    }
}

/// The next command starts where this one ended up, while that is inside the workspace.
fn follow_cwd(start: &Path, ending: &CommandEnding, cx: &ToolContext, notes: &mut Vec<String>) {
    let cwd = ending.cwd.as_deref().unwrap_or(start);
    if *cwd == *cx.session.shell.cwd() {
        return;
    }
    // By the path itself and not by its text: names need not be text.
    let is_inside = |place: &PathBuf| {
        place.is_dir() && cx.session.shared.roots.all().iter().any(|root| place.starts_with(root))
    };
    if let Some(place) = real_place(cwd).filter(is_inside) {
        cx.session.shell.set_cwd(place);
        return;
    }
    let home = cx.session.shared.roots.first().to_owned();
    notes.push(format!(
        "`{}` is outside the workspace; the next command starts in `{}`",
        shown_path(cwd),
        shown_path(&home)
    ));
    cx.session.shell.set_cwd(home);
}

fn not_started(error: impl std::fmt::Display) -> ToolError {
    ToolError::new(ErrorKind::ShellExecution, error.to_string())
}
