//! A command to start: its text, its role and its sandbox.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{path::PathBuf, sync::Arc};

use toolwright_command_protocol::SandboxPlan;
#[cfg(unix)]
use toolwright_command_protocol::{CommandRequest, RequestKind};

#[cfg(unix)]
use crate::settings::ProcessSettings;
use crate::{sandbox::ProxyStarter, task::RunMode};

/// For whom a command runs.
#[derive(Clone, Debug)]
pub enum CommandRole {
    /// A model. The command has no input, one stream for output and errors, and an environment
    /// without secrets.
    Model,
    /// The host itself. The command has an input and the environment for helpers. Output and errors
    /// are separate, and only the beginning of each is kept.
    Helper {
        /// The text that it reads from its standard input.
        input: Vec<u8>,
        /// How many bytes of each output are kept.
        kept_bytes: usize,
    },
    /// A model, through a tool with a fixed command. Like [`Self::Model`], but the system's shell
    /// reads the text, so that it is the same on every machine. The model's values are its
    /// positional parameters.
    FixedText {
        /// The values of `$1` and so on.
        parameters: Vec<String>,
    },
    /// A third-party program that the host talks to over pipes. Input and output are those pipes,
    /// and the end of its errors is kept. Its environment contains only the secrets that it was
    /// given.
    #[cfg(unix)]
    Server {
        /// The values of `$1` and so on.
        parameters: Vec<String>,
        /// Its additional variables, each as `NAME=value`.
        variables: Vec<String>,
        /// Its ends of the pipes.
        pipes: Arc<ServerPipes>,
    },
}

/// The ends of pipes that a server reads from and writes to.
#[cfg(unix)]
#[derive(Debug)]
pub struct ServerPipes {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl CommandRole {
    fn parameters(&self) -> &[String] {
        match self {
            Self::FixedText { parameters } => parameters,
            #[cfg(unix)]
            Self::Server { parameters, .. } => parameters,
            Self::Model | Self::Helper { .. } => &[],
        }
    }

    fn variables(&self) -> &[String] {
        match self {
            #[cfg(unix)]
            Self::Server { variables, .. } => variables,
            Self::Model | Self::Helper { .. } | Self::FixedText { .. } => &[],
        }
    }
}

/// A command to start.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// For whom the command runs.
    pub role: CommandRole,
    /// The command line.
    pub command: String,
    /// The caller's description of the command.
    pub description: Option<String>,
    /// The working directory to start in.
    pub cwd: PathBuf,
    /// The session that starts it.
    pub session_id: String,
    /// Whether a call waits for it.
    pub run_mode: RunMode,
    /// True to also queue its output for `Task::take_waiting` as it arrives.
    pub is_streamed: bool,
    /// The plan of its sandbox. `None` to run it without one.
    pub sandbox: Option<Arc<SandboxPlan>>,
    /// Starts its proxy, if its sandbox has its own network with a proxy.
    pub proxy: Option<Arc<dyn ProxyStarter>>,
}

impl CommandSpec {
    /// The length of its text, its parameters and its variables, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.role.parameters().iter().chain(self.role.variables());
        texts.fold(self.command.len(), |sum, it| sum + it.len())
    }

    /// The request for the supervisor.
    #[cfg(unix)]
    pub(super) fn request(&self, settings: &ProcessSettings, linger_ms: u32) -> CommandRequest {
        use std::os::unix::ffi::OsStrExt as _;

        let (kind, shell) = match self.role {
            CommandRole::Model => (RequestKind::Command, &settings.shell),
            CommandRole::FixedText { .. } => (RequestKind::Command, &settings.helper_shell),
            CommandRole::Helper { .. } => (RequestKind::Helper, &settings.helper_shell),
            CommandRole::Server { .. } => (RequestKind::Server, &settings.helper_shell),
        };
        let bytes = |texts: &[String]| texts.iter().map(|it| it.as_bytes().to_vec()).collect();
        CommandRequest {
            kind,
            is_sandboxed: self.sandbox.is_some(),
            is_proxied: self.proxy.is_some(),
            linger_ms,
            grace_ms: settings.grace_ms(),
            shell: shell.as_os_str().as_bytes().to_vec(),
            cwd: self.cwd.as_os_str().as_bytes().to_vec(),
            command: self.command.as_bytes().to_vec(),
            variables: bytes(self.role.variables()),
            parameters: bytes(self.role.parameters()),
        }
    }
}
