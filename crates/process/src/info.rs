//! A serialisable snapshot of a task, for hosts.

use std::{path::PathBuf, sync::Arc, time::UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    command_output::SpillState,
    ending::TaskState,
    task::{Task, TaskKind},
};

/// A snapshot of a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskInfo {
    /// The id of the task.
    pub id: String,
    /// What it runs: `command` or `agent`.
    pub kind: &'static str,
    /// The id of the agent, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Arc<str>>,
    /// The command line, or the prompt of an agent.
    pub command: Arc<str>,
    /// The caller's description of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// The session that started it.
    pub session_id: Arc<str>,
    /// The state of the task.
    pub state: TaskState,
    /// The exit code of the shell, if it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The name of the signal that ended the shell, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<&'static str>,
    /// When it started, in milliseconds since 1970.
    pub started_at: f64,
    /// How long it has been running, or ran until its end.
    pub duration_ms: f64,
    /// How many bytes of output it has written so far.
    pub output_bytes: u64,
    /// The file that holds the output, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<PathBuf>,
    /// True if every process it starts is certain to end with it.
    pub contained: bool,
    /// Why processes that it starts may outlive it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_contained: Option<String>,
}

impl TaskInfo {
    /// A snapshot of a task as it is now.
    pub fn of(task: &Task) -> Self {
        let ending = task.ending();
        let (kind, agent_id) = match &task.kind {
            TaskKind::Command => ("command", None),
            TaskKind::Agent { id } => ("agent", Some(Arc::clone(id))),
        };
        Self {
            id: task.id.clone(),
            kind,
            agent_id,
            command: Arc::clone(&task.command),
            description: task.description.clone(),
            session_id: Arc::clone(&task.session_id),
            state: task.state(),
            exit_code: ending.and_then(|it| it.exit_code),
            signal: ending.and_then(|it| it.signal).map(signal_name),
            started_at: task
                .started_at
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |it| (it.as_secs_f64() * 1_000.0).round()),
            duration_ms: (task.duration().as_secs_f64() * 1_000.0).round(),
            output_bytes: task.total(),
            output_file: match task.spill_state() {
                SpillState::File { path, .. } => Some(path),
                SpillState::None | SpillState::Failed(_) => None,
            },
            contained: task.is_contained(),
            not_contained: task.not_contained.as_ref().map(ToString::to_string),
        }
    }
}

/// The name of a signal. Numbers that differ between Linux and macOS are only named on Linux.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        #[cfg(target_os = "linux")]
        7 => "SIGBUS",
        #[cfg(target_os = "linux")]
        10 => "SIGUSR1",
        #[cfg(target_os = "linux")]
        12 => "SIGUSR2",
        #[cfg(target_os = "linux")]
        24 => "SIGXCPU",
        #[cfg(target_os = "linux")]
        25 => "SIGXFSZ",
        #[cfg(target_os = "linux")]
        31 => "SIGSYS",
        _ => "another signal",
    }
}
