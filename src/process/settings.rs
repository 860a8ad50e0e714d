//! How commands are run, as a host may set it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use super::locate::NoSupervisor;

/// What becomes of a command that reaches its time limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnTimeout {
    /// It is stopped, and its output kept.
    #[default]
    Stop,
    /// It goes on as a task.
    Background,
}

/// How commands are run.
#[derive(Clone, Debug)]
pub struct ProcessSettings {
    /// The shell that runs them.
    pub shell: PathBuf,
    /// All of their environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The shell of helpers, which are commands of the host itself.
    pub helper_shell: PathBuf,
    /// All of the environment of helpers.
    pub helper_environment: Vec<(OsString, OsString)>,
    /// The supervisor's program, or why there is none.
    pub supervisor: Result<PathBuf, NoSupervisor>,
    /// Where the directory of output files is made.
    pub temporary: PathBuf,
    /// What becomes of a foreground command that takes too long.
    pub on_timeout: OnTimeout,
    /// How long processes have between TERM and KILL.
    pub grace: Duration,
    /// A foreground command that says nothing for so long is stopped.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of output one file may hold.
    pub max_file_bytes: u64,
}

impl ProcessSettings {
    /// How long processes have between TERM and KILL, unless a host says otherwise.
    pub const GRACE: Duration = Duration::from_secs(2);
    /// How many bytes one file holds, unless a host says otherwise.
    pub const MAX_FILE_BYTES: u64 = 128 * 1024 * 1024;

    /// The usual way, with a shell and an environment. Helpers run in the system's shell, in the
    /// same environment.
    pub fn new(shell: PathBuf, environment: Vec<(OsString, OsString)>, temporary: PathBuf) -> Self {
        Self {
            shell,
            helper_shell: PathBuf::from("/bin/sh"),
            helper_environment: environment.clone(),
            environment,
            supervisor: Err(NoSupervisor::Missing { looked_at: Vec::new() }),
            temporary,
            on_timeout: OnTimeout::default(),
            grace: Self::GRACE,
            idle_timeout: None,
            max_file_bytes: Self::MAX_FILE_BYTES,
        }
    }

    pub(super) fn grace_ms(&self) -> u32 {
        u32::try_from(self.grace.as_millis()).unwrap_or(u32::MAX)
    }
}
