//! Settings for running commands: shells, environments, time limits and the size of output files.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use super::locate_supervisor::NoSupervisor;

/// What happens to a command that reaches its time limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnTimeout {
    /// It is stopped. Its output so far is kept.
    #[default]
    Stop,
    /// It continues as a background task.
    Background,
}

/// Everything about running commands that a host can set.
#[derive(Clone, Debug)]
pub struct ProcessSettings {
    /// The shell that runs the commands of models.
    pub shell: PathBuf,
    /// The whole environment of those commands. Nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// The shell that runs helpers, which are commands of the host itself, such as hooks.
    pub helper_shell: PathBuf,
    /// The whole environment of helpers. Nothing is inherited.
    pub helper_environment: Vec<(OsString, OsString)>,
    /// The supervisor's program, or why there is none.
    pub supervisor: Result<PathBuf, NoSupervisor>,
    /// Where the directory of output files is made.
    pub temporary: PathBuf,
    /// What happens to a foreground command that reaches its time limit.
    pub on_timeout: OnTimeout,
    /// How much time processes have to end after SIGTERM, before SIGKILL is sent.
    pub grace: Duration,
    /// A foreground command without output for this long is stopped.
    pub idle_timeout: Option<Duration>,
    /// The most bytes of output that one file may hold.
    pub max_file_bytes: u64,
}

impl ProcessSettings {
    /// The default of [`ProcessSettings::grace`].
    pub const GRACE: Duration = Duration::from_secs(2);
    /// The default of [`ProcessSettings::max_file_bytes`].
    pub(crate) const MAX_FILE_BYTES: u64 = 128 * 1024 * 1024;

    /// The default settings for a shell and an environment. Helpers run in the system's shell with the
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
