//! A program that the host configures and talks to over its standard streams, such as an MCP
//! server.
//!
//! It runs like every command: everything it starts ends with it, with the registry, and with the
//! host. Its input and output are pipes whose other ends the caller has. The end of its errors is
//! kept.

use std::path::PathBuf;
#[cfg(unix)]
use std::{io, sync::Arc, time::Duration};

#[cfg(unix)]
use tokio::net::unix::pipe;
#[cfg(unix)]
use toolwright_command_protocol::SandboxPlan;

#[cfg(unix)]
use super::{
    CommandRole, CommandSpec, RunMode, StartError, StopReason, Task, TaskManager,
    manager::ServerPipes, sandbox::ProxyStarter,
};

/// The text that the system's shell runs. The program replaces the shell.
#[cfg(unix)]
const RUN_PROGRAM: &str = r#"exec "$@""#;
/// How many bytes of the errors are returned.
#[cfg(unix)]
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A program to start.
#[derive(Clone, Debug)]
pub struct ServerCommand {
    /// Its path, or its name in one of the directories of `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that add to or replace those of commands, each as `NAME=value`.
    pub variables: Vec<String>,
    /// The working directory to start in.
    pub cwd: PathBuf,
}

/// A program that was started. Dropping it ends the program.
#[cfg(unix)]
#[derive(Debug)]
pub struct ServerProcess {
    task: Arc<Task>,
}

#[cfg(unix)]
impl ServerProcess {
    /// Starts a program, in a sandbox if there is a plan. Returns it with the writing end of its
    /// input and the reading end of its output.
    pub async fn start(
        tasks: &Arc<TaskManager>,
        command: &ServerCommand,
        sandbox: Option<Arc<SandboxPlan>>,
        proxy: Option<Arc<dyn ProxyStarter>>,
    ) -> Result<(Self, pipe::Sender, pipe::Receiver), StartError> {
        let (input, sender) = io::pipe()?;
        let (receiver, output) = io::pipe()?;
        let sender = pipe::Sender::from_owned_fd(sender.into())?;
        let receiver = pipe::Receiver::from_owned_fd(receiver.into())?;
        let program = std::iter::once(&command.program);
        let spec = CommandSpec {
            role: CommandRole::Server {
                parameters: program.chain(&command.arguments).cloned().collect(),
                variables: command.variables.clone(),
                pipes: Arc::new(ServerPipes { input: input.into(), output: output.into() }),
            },
            command: RUN_PROGRAM.to_owned(),
            description: None,
            cwd: command.cwd.clone(),
            session_id: String::new(),
            run_mode: RunMode::Foreground,
            is_streamed: false,
            sandbox,
            proxy,
        };
        let task = tasks.launch(spec).await?;
        Ok((Self { task }, sender, receiver))
    }

    /// The end of its error output.
    pub fn errors(&self) -> String {
        let (_, end) = self.task.ends();
        let from = end.len().saturating_sub(MAX_ERROR_BYTES);
        String::from_utf8_lossy(end.get(from..).unwrap_or_default()).into_owned()
    }

    /// Waits until it and everything it started has ended. Returns a description of how it ended.
    pub async fn ended(&self) -> String {
        let ending = self.task.ended().await;
        match (ending.failure, ending.exit_code, ending.signal) {
            (Some(cause), ..) => format!("it could not be started: {cause}"),
            (None, Some(127), _) => {
                "there is no such program (exit code 127); check `command` and `PATH`".to_owned()
            }
            (None, Some(126), _) => {
                "it is not a program that can be run (exit code 126)".to_owned()
            }
            (None, Some(code), _) => format!("it ended with exit code {code}"),
            (None, None, Some(signal)) => {
                format!("it was killed by {}", super::signal_name(signal))
            }
            (None, None, None) => "it ended".to_owned(),
        }
    }

    /// Stops it: SIGTERM now, SIGKILL after the grace period.
    pub fn stop(&self, grace: Duration) {
        self.task.stop(StopReason::Asked, grace);
    }
}

#[cfg(unix)]
impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.task.stop(StopReason::Abandoned, Duration::from_millis(500));
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;
    use crate::ProcessSettings;

    /// A manager without a supervisor. Servers with a supervisor are tested through the registry.
    fn tasks(temporary: &std::path::Path) -> Arc<TaskManager> {
        let environment = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("GIVEN".into(), "by the host".into()),
            ("OTHER".into(), "stays".into()),
        ];
        let mut settings =
            ProcessSettings::new("/bin/sh".into(), environment, temporary.to_owned());
        settings.helper_environment.push(("SECRET".into(), "of the host".into()));
        TaskManager::new(settings)
    }

    fn shell(text: &str, cwd: PathBuf) -> ServerCommand {
        ServerCommand {
            program: "sh".to_owned(),
            arguments: ["-c", text, "sh", "an argument"].map(str::to_owned).into(),
            variables: vec!["GIVEN=by=the server".to_owned()],
            cwd,
        }
    }

    #[tokio::test]
    async fn a_program_uses_pipes_and_ends_when_its_input_closes() {
        let directory = tempfile::tempdir().unwrap();
        let tasks = tasks(directory.path());
        let text =
            r#"echo "$GIVEN, $OTHER, $1$SECRET"; echo ready >&2; cat; echo over >&2; exit 3"#;
        let command = shell(text, directory.path().to_owned());
        let (process, mut input, output) =
            ServerProcess::start(&tasks, &command, None, None).await.unwrap();
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).await.unwrap();
        assert_eq!(line, "by=the server, stays, an argument\n");
        input.write_all(b"hello\n").await.unwrap();
        line.clear();
        output.read_line(&mut line).await.unwrap();
        assert_eq!(line, "hello\n");
        drop(input);
        line.clear();
        assert_eq!(output.read_to_string(&mut line).await.unwrap(), 0);
        assert_eq!(process.ended().await, "it ended with exit code 3");
        assert_eq!(process.errors(), "ready\nover\n");
        tasks.shut_down().await;
    }

    #[tokio::test]
    async fn dropping_a_program_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let tasks = tasks(directory.path());
        let command = shell("exec sleep 1000", directory.path().to_owned());
        let (process, _input, mut output) =
            ServerProcess::start(&tasks, &command, None, None).await.unwrap();
        drop(process);
        let mut rest = String::new();
        assert_eq!(output.read_to_string(&mut rest).await.unwrap(), 0);
        tasks.shut_down().await;
    }
}
