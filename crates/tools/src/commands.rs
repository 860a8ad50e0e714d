//! Runs a command for the tools `Bash` and `shell`, and for tools whose command is fixed.
//!
//! Both tools check their input into a [`CommandToRun`]; from there on everything is shared: where the command
//! starts, how long it may take, and which directory the next command starts in.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use toolwright_base::{Access, DataScope, ErrorKind, ToolError, shown_path, shown_text};
use toolwright_core::{CallPlan, ForModel as _, PlannedSandbox, ToolContext, ToolOutput};
use toolwright_files::real_place;
use toolwright_process::{
    CommandEnding, CommandRole, CommandSpec, ForegroundCommand, ForegroundOutcome,
    MAX_COMMAND_BYTES, OnTimeout, RunMode, Task,
};

use super::command_answer::{CommandFacts, ended, started, stuck};

/// A checked call of `Bash` or `shell`.
pub(super) struct CommandToRun {
    pub(super) command: String,
    pub(super) description: Option<String>,
    /// The directory it starts in, which is also the one that policy resolves its paths against.
    pub(super) start: StartDirectory,
    pub(super) timeout: Duration,
    pub(super) run_mode: RunMode,
    pub(super) wording: CommandWording,
}

/// The directory a command starts in.
pub(super) struct StartDirectory {
    pub(super) path: PathBuf,
    /// True if the call names the directory. The conversation's working directory then stays what it is.
    is_own: bool,
    /// For the model: why this is not the directory in which the last command ended.
    note: Option<String>,
}

impl StartDirectory {
    /// A directory that the call names.
    pub(super) fn own(path: PathBuf) -> Self {
        Self { path, is_own: true, note: None }
    }

    /// The conversation's working directory, or the workspace if that directory no longer exists.
    pub(super) fn of_session(cx: &ToolContext) -> Self {
        let cwd = cx.session.shell.cwd();
        if cwd.is_dir() {
            return Self { path: cwd, is_own: false, note: None };
        }
        let path = cx.session.shared.files.roots.first().to_owned();
        let note = format!(
            "the working directory `{}` no longer exists; the command ran in `{}`",
            shown_path(&cwd),
            shown_path(&path)
        );
        Self { path, is_own: false, note: Some(note) }
    }
}

/// The layout of a command's answer, which differs between the sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandWording {
    /// The output, followed by the exit code. Used by `Bash`.
    OutputFirst,
    /// The exit code, followed by the output. Used by `shell`.
    CodeFirst,
    /// The output alone; the exit code only if it is not 0. Used by tools whose command is fixed.
    OutputAlone,
}

impl CommandWording {
    /// The names that the set has for the tool that reads a task's output, that tool's parameter for the task
    /// id, and the tool that stops a task.
    pub(super) const fn task_tools(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OutputFirst | Self::OutputAlone => ("TaskOutput", "task_id", "TaskStop"),
            Self::CodeFirst => ("task_output", "taskId", "task_stop"),
        }
    }
}

/// The largest `timeout` that a call may ask for.
pub(super) const MAX_TIMEOUT_MS: u32 = 600_000;
/// The time limit of a call: the longest command, the longest grace period that a host can set, and a margin.
pub(super) const CALL_LIMIT: Duration = Duration::from_secs(600 + 60 + 30);

/// Refuses a command that cannot be passed to a shell.
pub(super) fn checked_command(command: String) -> Result<String, ToolError> {
    let wrong = |what: String| {
        Err(ToolError::new(ErrorKind::Validation, format!("parameter `command`: {what}")))
    };
    if command.trim().is_empty() {
        return wrong("the command is empty".to_owned());
    }
    if command.contains('\0') {
        return wrong(
            "the command contains a NUL character, which cannot be passed to a shell".to_owned(),
        );
    }
    if command.len() > MAX_COMMAND_BYTES {
        return wrong(format!(
            "the command has {} bytes, and at most {MAX_COMMAND_BYTES} can be run; write it to a file and run the file",
            command.len()
        ));
    }
    Ok(command)
}

/// A command text that was fixed before the call. The call's values are its positional parameters.
pub struct FixedCommand {
    /// The text that the system's shell reads.
    pub text: String,
    /// The values of `$1` and so on.
    pub parameters: Vec<String>,
    /// The same as one command line, for policy and for display.
    pub line: String,
    /// The directory it starts in.
    pub directory: PathBuf,
    /// The time limit.
    pub timeout: Duration,
}

/// Runs a fixed command to its end. It is stopped at its time limit.
pub async fn run_fixed(command: FixedCommand, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let FixedCommand { text, parameters, line, directory, timeout } = command;
    let plan = CommandToRun {
        command: line,
        description: None,
        start: StartDirectory::own(directory),
        timeout,
        run_mode: RunMode::Foreground,
        wording: CommandWording::OutputAlone,
    };
    let role = CommandRole::FixedText { parameters };
    let output = run_text(plan, text, role, cx).await?;
    // The text is the answer. The facts about it are in its metadata as well.
    Ok(output.split_data().1)
}

impl CallPlan for CommandToRun {
    type Output = CommandFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Run(self.command.clone())]
    }

    /// `shell` shows the directory, `Bash` the command.
    fn locations(&self, accesses: &[Access]) -> Vec<String> {
        match self.wording {
            CommandWording::CodeFirst => vec![shown_path(&self.start.path)],
            _ => accesses.iter().map(Access::location).collect(),
        }
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.start.path)
    }

    fn describe(&self) -> String {
        let how = match self.run_mode {
            RunMode::Foreground => "",
            RunMode::Background => " in the background",
        };
        format!("Execute{how}: {}", shown_text(&self.command))
    }

    /// Runs the command to its end, or starts it as a background task.
    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<CommandFacts>, ToolError> {
        let text = self.command.clone();
        run_text(self, text, CommandRole::Model, cx).await
    }
}

/// Runs the text of a command in a role.
async fn run_text(
    plan: CommandToRun,
    text: String,
    role: CommandRole,
    cx: &ToolContext,
) -> Result<ToolOutput<CommandFacts>, ToolError> {
    let manager = &cx.session.shared.tasks;
    let mut notes: Vec<String> = plan.start.note.clone().into_iter().collect();
    let is_fixed = matches!(role, CommandRole::FixedText { .. });
    let sandbox = cx.sandbox.of_command(&cx.cancel).await?;
    let made = sandbox.make_files();
    let task = manager
        .launch(CommandSpec {
            role,
            command: text,
            description: plan.description.clone(),
            cwd: plan.start.path.clone(),
            session_id: cx.session.id.clone(),
            run_mode: plan.run_mode,
            is_streamed: plan.run_mode == RunMode::Foreground && cx.progress.is_watched(),
            sandbox: sandbox.plan.clone(),
            proxy: sandbox.proxy.clone(),
        })
        .await
        .for_model()?;
    task.note_policy_gaps(sandbox.incomplete.clone(), sandbox.not_enforced.clone());
    if plan.run_mode == RunMode::Background {
        made.leave();
        return Ok(started(&task, plan.wording, notes));
    }
    let mut foreground = ForegroundCommand::of(Arc::clone(manager), Arc::clone(&task));
    if is_fixed {
        // Not every set has tools for background tasks.
        foreground = foreground.on_timeout(OnTimeout::Stop);
    }
    let outcome = if cx.progress.is_watched() {
        let report = async |text: String| {
            cx.output(text);
            cx.progress.caught_up().await;
        };
        foreground.outcome_with_output(plan.timeout, report).await
    } else {
        foreground.outcome(plan.timeout).await
    };
    match outcome {
        ForegroundOutcome::Background => {
            made.leave();
            notes.push(format!(
                "still running after {} ms; it continues in the background",
                plan.timeout.as_millis()
            ));
            Ok(started(&task, plan.wording, notes))
        }
        ForegroundOutcome::Stuck(reason) => {
            Ok(ended(&plan, &task, &stuck(&task, reason), notes, cx))
        }
        ForegroundOutcome::Ended(ending) => {
            notes.extend(made_places(&sandbox));
            if ending.exit_code != Some(0) {
                notes.extend(refused_targets(&task));
            }
            if !plan.start.is_own {
                follow_cwd(&plan.start.path, &ending, cx, &mut notes);
            }
            Ok(ended(&plan, &task, &ending, notes, cx))
        }
    }
}

/// The note about paths that a command created and that other programs run or trust. The command may have run
/// without confirmation, so the reader of the answer must know.
fn made_places(sandbox: &PlannedSandbox) -> Option<String> {
    let made = sandbox.made_places();
    let shown: Vec<String> =
        made.iter().take(3).map(|it| format!("`{}`", shown_path(it))).collect();
    let more = if made.len() > shown.len() { " and more" } else { "" };
    let list = shown.join(", ");
    (!made.is_empty()).then(|| {
        format!("{list}{more} did not exist before the command; other programs run or trust their content")
    })
}

/// The note about hosts that a failed command could not reach. Few programs show the proxy's reason.
fn refused_targets(task: &Task) -> Option<String> {
    let refused = task.refused_targets();
    let reasons: Vec<String> = refused.iter().take(3).map(|it| shown_text(&it.1)).collect();
    let more = if refused.len() > reasons.len() { "; there were more" } else { "" };
    (!refused.is_empty()).then(|| format!("not connected: {}{more}", reasons.join("; ")))
}

/// Makes the directory in which a command ended the one in which the next starts, if it is inside the
/// workspace.
fn follow_cwd(start: &Path, ending: &CommandEnding, cx: &ToolContext, notes: &mut Vec<String>) {
    let cwd = ending.cwd.as_deref().unwrap_or(start);
    if *cwd == *cx.session.shell.cwd() {
        return;
    }
    // Compares paths and not their text, because a name need not be valid UTF-8.
    let is_inside = |place: &PathBuf| {
        place.is_dir()
            && cx.session.shared.files.roots.all().iter().any(|root| place.starts_with(root))
    };
    if let Some(place) = real_place(cwd).filter(is_inside) {
        cx.session.shell.set_cwd(place);
        return;
    }
    let home = cx.session.shared.files.roots.first().to_owned();
    notes.push(format!(
        "`{}` is outside the workspace; the next command starts in `{}`",
        shown_path(cwd),
        shown_path(&home)
    ));
    cx.session.shell.set_cwd(home);
}
