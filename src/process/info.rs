//! A task as hosts see it: a copy of what is known at one moment.

use std::{path::PathBuf, sync::Arc, time::UNIX_EPOCH};

use serde::Serialize;

use super::{command_output::SpillState, ending::TaskState, task::Task};

/// What is known of a task.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskInfo {
    /// Its id.
    pub id: String,
    /// What it runs.
    pub command: Arc<str>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// The conversation that started it.
    pub session_id: Arc<str>,
    /// What it is at.
    pub state: TaskState,
    /// The shell's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<&'static str>,
    /// When it started, in milliseconds since 1970.
    pub started_at: f64,
    /// How long it has run, or ran.
    pub duration_ms: f64,
    /// How many bytes of output have come.
    pub output_bytes: u64,
    /// Where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<PathBuf>,
    /// True when whatever it starts ends with it.
    pub contained: bool,
}

impl TaskInfo {
    /// What is known of a task now.
    pub fn of(task: &Task) -> Self {
        let ending = task.ending();
        Self {
            id: task.id.clone(),
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
            contained: task.contained,
        }
    }
}

/// The name of a signal; numbers are those of Linux and macOS where they agree.
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
