//! How a command ended, and what can be said of it on the way there.

use std::{path::PathBuf, time::Duration};

use serde::Serialize;

/// Why a command was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// Its time was up.
    Timeout,
    /// It said nothing for too long.
    Idle,
    /// The call that waited for it was given up.
    Abandoned,
}

/// What a task is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It runs.
    Running,
    /// It ended with exit code 0.
    Completed,
    /// It ended in another way.
    Failed,
    /// It was stopped.
    Stopped,
}

impl TaskState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// What somebody did to the keeper of a command, the process that watches over it. Commands run as the same
/// user and can do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperTrouble {
    /// It was stopped, and set going again.
    Stopped,
    /// It is gone: nobody saw how the command ended. The host ended what was left of it.
    Killed,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnding {
    /// The exit code of the shell, where it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
    /// Why it could not be started.
    pub failure: Option<String>,
    /// What became of its keeper.
    pub trouble: Option<KeeperTrouble>,
    /// Why it was stopped, where it was.
    pub stopped_for: Option<StopReason>,
    /// Processes that outlived the shell and were stopped.
    pub leftovers: u32,
    /// Processes that could not be stopped.
    pub survivors: u32,
    /// True when one of those that outlived the shell of a helper could still write to its output.
    pub held_output: bool,
    /// The shell's last working directory, where it is known.
    pub cwd: Option<PathBuf>,
    /// How long it took, until all of it was gone.
    pub duration: Duration,
}
