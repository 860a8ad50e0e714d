//! A command to start: its text, who it is run for, and what it is held to.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{path::PathBuf, sync::Arc};

#[cfg(unix)]
use crate::process::{
    protocol::{CommandRequest, RequestKind},
    settings::ProcessSettings,
};
use crate::process::{
    sandbox::{CommandDoor, SandboxPlan},
    task::RunMode,
};

/// Who a command is run for.
#[derive(Clone, Debug)]
pub(crate) enum CommandRole {
    /// A model. The command has no input, output and errors in one stream, and an environment without
    /// secrets.
    Model,
    /// The host itself. The command has an input and the environment for helpers. Output and errors are kept
    /// apart, and only the beginning of each.
    Helper {
        /// The text that it reads from its standard input.
        input: Vec<u8>,
        /// How many bytes of each output are kept.
        kept_bytes: usize,
    },
    /// A model, by a tool whose command is fixed. As for [`Self::Model`], but the text is read by the system's
    /// shell, the same one on every machine, and what the model says are its positional parameters.
    FixedText {
        /// The values of `$1` and so on.
        parameters: Vec<String>,
    },
    /// A program that the host talks to over pipes and that others have written. Input and output are those
    /// pipes, of its errors the end is kept, and its environment has the secrets alone that it was given.
    #[cfg(unix)]
    Server {
        /// The values of `$1` and so on.
        parameters: Vec<String>,
        /// Variables of its own, each as `NAME=value`.
        variables: Vec<String>,
        /// Its ends of the pipes.
        pipes: Arc<ServerPipes>,
    },
}

/// The ends of pipes that a server reads from and writes to.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct ServerPipes {
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
pub(crate) struct CommandSpec {
    /// Who the command is run for.
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
    /// True when its output is also queued for [`Task::take_waiting`] while it comes.
    pub is_streamed: bool,
    /// What the kernel holds it to; none to run it as the user.
    pub sandbox: Option<Arc<SandboxPlan>>,
    /// What serves its own network, if its sandbox gives it one with a proxy.
    pub door: Option<Arc<dyn CommandDoor>>,
}

impl CommandSpec {
    /// How many bytes its text has, with all that it is given.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.role.parameters().iter().chain(self.role.variables());
        texts.fold(self.command.len(), |sum, it| sum + it.len())
    }

    /// What the supervisor is asked for.
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
            is_proxied: self.door.is_some(),
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
