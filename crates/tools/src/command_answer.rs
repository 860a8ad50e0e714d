//! Builds the answers of the tools for commands and tasks: the text for the model, and the same facts as
//! structured data for programs.

use std::{path::Path, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use toolwright_base::{ErrorKind, SHOWN_NAME, ToolError, shortened, shown_path, shown_text};
use toolwright_core::{Content, Session, ToolContext, ToolOutput};
use toolwright_process::{
    CommandEnding, KeeperTrouble, RunMode, SpillState, StopReason, Task, TaskState, signal_name,
};
use toolwright_shell::exit_meaning;

use super::{
    command_text::{ShownOutput, file_note, shown_output},
    commands::{CommandToRun, CommandWording},
    sandbox_answer::{SandboxFacts, sandbox_notes},
};

/// The facts about a command, without its output.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandFacts {
    /// The id of its task, if it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Whether all processes that it starts end with it.
    contained: bool,
    /// Why they may not: no supervisor was found, or it could not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_contained: Option<String>,
    /// The sandbox that the kernel enforces; agents have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxFacts>,
    /// The size of its output so far, in bytes.
    output_bytes: u64,
    /// The file with its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_file: Option<String>,
    /// The size of that file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_file_bytes: Option<u64>,
    #[serde(flatten)]
    ending: Option<EndingFacts>,
    /// The directory in which the next command starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

/// The facts about the end of a command.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EndingFacts {
    /// Its exit code, unless a signal ended it or the code is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Why it was stopped, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_for: Option<StoppedFor>,
    /// The number of processes that outlived the shell and were stopped.
    stopped_processes: u32,
    /// The number of processes that could not be stopped.
    surviving_processes: u32,
    /// How long it ran, in milliseconds.
    duration_ms: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StoppedFor {
    Asked,
    Timeout,
    Idle,
    Abort,
}

impl From<StopReason> for StoppedFor {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Asked => Self::Asked,
            StopReason::Timeout => Self::Timeout,
            StopReason::Idle => Self::Idle,
            StopReason::Abandoned => Self::Abort,
        }
    }
}

/// The facts about a task.
#[derive(Serialize, JsonSchema)]
pub(super) struct TaskFacts {
    #[serde(flatten)]
    command: CommandFacts,
    /// Whether it is running, or how it ended.
    state: TaskState,
}

/// The answer for a command that now runs in the background.
pub(super) fn started(
    task: &Task,
    wording: CommandWording,
    mut notes: Vec<String>,
) -> ToolOutput<CommandFacts> {
    let mut text = format!("task `{}` runs in the background", task.id);
    if let SpillState::File { path, .. } = task.spill_state() {
        text.push_str(&format!("; its output goes to `{}`", shown_path(&path)));
    }
    let (read, parameter, stop) = wording.task_tools();
    text.push_str(&format!(
        "\nread its output and status with {read} ({parameter} `{}`); stop it with {stop}",
        task.id
    ));
    notes.insert(0, text);
    with_facts(ToolOutput::text(notes.join("\n")), CommandFacts::of(task, None, None))
}

/// The ending of a command that could not be stopped. At least one process of it is left.
pub(super) fn stuck(task: &Task, reason: StopReason) -> CommandEnding {
    CommandEnding {
        exit_code: None,
        signal: None,
        failure: None,
        trouble: None,
        held_output: false,
        limit_hit: None,
        stopped_for: Some(reason),
        leftovers: 0,
        survivors: 1,
        cwd: None,
        duration: task.duration(),
    }
}

/// The answer for a command that has ended.
pub(super) fn ended(
    plan: &CommandToRun,
    task: &Arc<Task>,
    ending: &CommandEnding,
    mut notes: Vec<String>,
    cx: &ToolContext,
) -> ToolOutput<CommandFacts> {
    if let Some(leftovers) = leftovers(ending) {
        notes.push(format!("{leftovers}; to keep a process running, start it in the background"));
    }
    if let Some(trouble) = trouble_words(ending) {
        notes.push(trouble.to_owned());
    }
    if ending.survivors > 0 {
        notes.push(format!("{} processes could not be stopped", ending.survivors));
    }
    notes.extend(sandbox_notes(task, ending));
    let idle_limit = cx.session.shared.tasks.settings.idle_timeout;
    let verdict = Verdict::of(plan, ending, idle_limit, task.total() == 0);
    let answer = |ShownOutput { text, notes: cuts }: &ShownOutput| {
        let notes = cuts.iter().chain(&notes).map(|note| format!("\n[{note}]"));
        let notes: String = notes.collect();
        match plan.wording {
            CommandWording::OutputFirst => {
                let text =
                    if text.is_empty() { "(no output)" } else { text.trim_end_matches('\n') };
                format!("{text}\n[{}]{notes}", verdict.words)
            }
            CommandWording::OutputAlone => {
                let text =
                    if text.is_empty() { "(no output)" } else { text.trim_end_matches('\n') };
                let verdict = match verdict.code {
                    Some(0) => String::new(),
                    _ => format!("\n[{}]", verdict.words),
                };
                format!("{text}{verdict}{notes}")
            }
            CommandWording::CodeFirst => {
                let code = verdict.code.map_or_else(|| "none".to_owned(), |it| it.to_string());
                let meaning = verdict.meaning.as_ref().map(|it| format!(" ({it})"));
                let meaning = meaning.unwrap_or_default();
                format!("Exit code: {code}{meaning}\n\nOutput:\n{text}{notes}")
            }
        }
    };
    let mut shown = shown_output(task, cx.max_result_bytes);
    // The output is cut here, in its middle, because a cut at the end of the answer would remove the exit
    // code. The first cut adds notes about what was left out, and the second makes room for them.
    for _ in 0..2 {
        let length = answer(&shown).len();
        if length <= cx.max_result_bytes {
            break;
        }
        let words = length.saturating_sub(shown.text.len());
        shown = shown_output(task, cx.max_result_bytes.saturating_sub(words));
    }
    if !shown.notes.is_empty() {
        cx.session.shared.tasks.remember(task);
    }
    let (answer, text) = (answer(&shown), shown.text);
    let mut output = ToolOutput { content: vec![Content::text(answer)], ..ToolOutput::default() };
    if plan.wording == CommandWording::CodeFirst {
        // An empty display would not tell a person that the command has ended.
        let output_is = if text.is_empty() { "no" } else { "blank" };
        let is_blank = text.trim().is_empty();
        let ending = || format!("{output_is} output; {}", verdict.words);
        output.display = Some(if is_blank { ending() } else { text });
        output.names_failure = true;
    }
    output.error = verdict.error;
    with_facts(output, CommandFacts::of(task, Some(ending), Some(&cx.session.shell.cwd())))
}

fn with_facts(
    mut output: ToolOutput<CommandFacts>,
    facts: CommandFacts,
) -> ToolOutput<CommandFacts> {
    output.meta.insert("toolwright/command".to_owned(), json!(facts));
    output.with_data(facts)
}

/// Says how many processes outlived the shell, if any did.
fn leftovers(ending: &CommandEnding) -> Option<String> {
    match ending.leftovers {
        0 => None,
        1 => Some("1 process outlived the shell and was stopped".to_owned()),
        count => Some(format!("{count} processes outlived the shell and were stopped")),
    }
}

/// Says what happened to the keeper, which is the supervisor's process for the command.
fn trouble_words(ending: &CommandEnding) -> Option<&'static str> {
    match (ending.trouble?, ending.survivors) {
        (KeeperTrouble::Stopped, _) => Some(
            "the supervisor process of the command was suspended by a signal and has been resumed",
        ),
        (KeeperTrouble::Killed, 0) => Some(
            "the supervisor process of the command was killed; all processes that the command had \
             started were ended",
        ),
        (KeeperTrouble::Killed, _) => Some(
            "the supervisor process of the command was killed; some of the processes that the command \
             had started are still running",
        ),
    }
}

/// How the end of a command is reported.
struct Verdict {
    code: Option<i32>,
    /// The whole verdict, including the exit code.
    words: String,
    /// The verdict without the exit code, if there is more to say.
    meaning: Option<String>,
    error: Option<ToolError>,
}

impl Verdict {
    fn of(
        plan: &CommandToRun,
        ending: &CommandEnding,
        idle_limit: Option<Duration>,
        has_no_output: bool,
    ) -> Self {
        let limit = plan.timeout.as_millis();
        let idle_limit = idle_limit.unwrap_or_default().as_millis();
        let failed = |kind, words: String, message: String| Self {
            code: ending.exit_code,
            meaning: Some(words.clone()),
            words,
            error: Some(ToolError::new(kind, message)),
        };
        if let Some(cause) = &ending.failure {
            let message = format!("Command could not be run: {cause}");
            return failed(ErrorKind::ShellExecution, message.clone(), message);
        }
        match (ending.stopped_for, ending.exit_code, ending.signal) {
            (Some(StopReason::Timeout), _, _) => failed(
                ErrorKind::ShellTimeout,
                format!("timed out after {limit} ms and was stopped"),
                format!("Command timed out after {limit}ms"),
            ),
            (Some(StopReason::Idle), _, _) => failed(
                ErrorKind::ShellTimeout,
                format!("no output for {idle_limit} ms, so it was stopped"),
                format!("Command produced no output for {idle_limit}ms"),
            ),
            (Some(StopReason::Asked | StopReason::Abandoned), _, _) => failed(
                ErrorKind::ShellExecution,
                "was stopped".to_owned(),
                "Command was stopped".to_owned(),
            ),
            (None, Some(0), _) => {
                Self { code: Some(0), words: "exit code 0".to_owned(), meaning: None, error: None }
            }
            (None, Some(code), _) => match exit_meaning(&plan.command, code, has_no_output) {
                Some(meaning) => Self {
                    code: Some(code),
                    words: format!("exit code {code}: {meaning}"),
                    meaning: Some(meaning.to_owned()),
                    error: None,
                },
                None => Self {
                    code: Some(code),
                    words: format!("exit code {code}"),
                    meaning: None,
                    error: Some(ToolError::new(
                        ErrorKind::ShellExecution,
                        format!("Command exited with code {code}"),
                    )),
                },
            },
            (None, None, Some(signal)) => failed(
                ErrorKind::ShellExecution,
                format!("killed by {}", signal_name(signal)),
                format!("Command was killed by {}", signal_name(signal)),
            ),
            (None, None, None) => failed(
                ErrorKind::ShellExecution,
                "exit status unknown".to_owned(),
                "Command ended, but its exit status is unknown: its supervisor process was killed"
                    .to_owned(),
            ),
        }
    }
}

impl CommandFacts {
    fn of(task: &Task, ending: Option<&CommandEnding>, cwd: Option<&Path>) -> Self {
        let (output_file, output_file_bytes) = match task.spill_state() {
            SpillState::File { path, bytes } => {
                (Some(path.to_string_lossy().into_owned()), Some(bytes))
            }
            SpillState::None | SpillState::Failed(_) => (None, None),
        };
        Self {
            task_id: (task.run_mode() == RunMode::Background).then(|| task.id.clone()),
            contained: task.is_contained(),
            not_contained: task.not_contained.as_ref().map(ToString::to_string),
            sandbox: (!task.is_agent()).then(|| SandboxFacts::of(&task.sandbox(), ending)),
            output_bytes: task.total(),
            output_file,
            output_file_bytes,
            ending: ending.map(EndingFacts::of),
            cwd: cwd.map(|it| it.to_string_lossy().into_owned()),
        }
    }
}

impl EndingFacts {
    fn of(ending: &CommandEnding) -> Self {
        Self {
            exit_code: ending.exit_code,
            signal: ending.signal.map(|it| signal_name(it).into()),
            stopped_for: ending.stopped_for.map(StoppedFor::from),
            stopped_processes: ending.leftovers,
            surviving_processes: ending.survivors,
            duration_ms: (ending.duration.as_secs_f64() * 1_000.0).round(),
        }
    }
}

/// Finds a task by its id. The error for an unknown id names the latest tasks. A task belongs to the
/// conversation that started it and does not exist for any other.
pub(super) fn task_of(id: &str, session: &Session) -> Result<Arc<Task>, ToolError> {
    let manager = &session.shared.tasks;
    manager.find_of(&session.id, id).ok_or_else(|| {
        let known: Vec<String> = manager
            .list_of(&session.id)
            .iter()
            .rev()
            .take(10)
            .map(|it| format!("`{}`", it.id))
            .collect();
        let hint = if known.is_empty() {
            "no task has been started".to_owned()
        } else {
            format!("the latest are {}", known.join(", "))
        };
        let shown = shown_text(id);
        let shown = shortened(&shown, SHOWN_NAME);
        ToolError::new(ErrorKind::TaskNotFound, format!("no task has the id `{shown}`; {hint}"))
    })
}

/// Says whether a task is running, or how it ended.
pub(super) fn state_words(task: &Task) -> String {
    let state = task.state().as_str();
    let words = match task.ending() {
        None => format!("task `{}` is {state}", task.id),
        Some(CommandEnding { failure: Some(cause), .. }) => {
            format!("task `{}` {state}: {cause}", task.id)
        }
        Some(CommandEnding { exit_code: Some(code), .. }) => {
            format!("task `{}` {state} with exit code {code}", task.id)
        }
        Some(CommandEnding { signal: Some(signal), .. }) => {
            format!("task `{}` {state}, ended by {}", task.id, signal_name(*signal))
        }
        Some(_) => format!("task `{}` {state}", task.id),
    };
    let trouble = task.ending().and_then(trouble_words).map(str::to_owned);
    let remarks = task.ending().and_then(leftovers).into_iter().chain(trouble);
    remarks.fold(words, |words, remark| format!("{words}; {remark}"))
}

impl TaskFacts {
    pub(super) fn of(task: &Task) -> Self {
        // The state is read before the byte count, so that the count of an ended task is final.
        let state = task.state();
        Self { command: CommandFacts::of(task, task.ending(), None), state }
    }
}

/// Says which file has a task's output, if one has.
pub(super) fn output_place(task: &Task) -> Option<String> {
    match task.spill_state() {
        SpillState::File { path, bytes } => Some(file_note(&path, bytes, task.total())),
        SpillState::None => None,
        SpillState::Failed(cause) => {
            Some(format!("the output could not be saved to a file: {cause}"))
        }
    }
}
