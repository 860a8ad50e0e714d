//! How a command ended, and the states that a task goes through until then.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_command_protocol::LimitKind;

/// Why a command was stopped by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model or the host requested it.
    Asked,
    /// It reached its time limit.
    Timeout,
    /// It had no output for too long.
    Idle,
    /// The call that waited for it ended early, or the registry was dropped.
    Abandoned,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It has not ended yet.
    Running,
    /// It ended with exit code 0.
    Completed,
    /// It ended with another exit code or by a signal, or could not be started.
    Failed,
    /// The host stopped it, for one of the [`StopReason`]s.
    Stopped,
}

impl TaskState {
    /// The name of the state in results and events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// What happened to the keeper of a command. Commands run as the same user, so they can stop and
/// kill it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperTrouble {
    /// It was stopped by a signal, and the host resumed it.
    Stopped,
    /// It was killed, so the exit status is unknown. The host killed the processes that were left.
    Killed,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnding {
    /// The exit code of the shell, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell, if one did.
    pub signal: Option<i32>,
    /// Why the command could not be started, if it could not.
    pub failure: Option<String>,
    /// What happened to its keeper, if anything did.
    pub trouble: Option<KeeperTrouble>,
    /// Why the host stopped it, if it did.
    pub stopped_for: Option<StopReason>,
    /// How many processes outlived the shell and were stopped.
    pub leftovers: u32,
    /// How many processes could not be killed.
    pub survivors: u32,
    /// True when a process that outlived the shell of a helper could still write to the helper's output.
    pub held_output: bool,
    /// The sandbox limit that it reached, if known.
    pub limit_hit: Option<LimitKind>,
    /// The shell's last working directory, if it is known.
    pub cwd: Option<PathBuf>,
    /// The time from the start until the last process of the command was gone.
    pub duration: Duration,
}
