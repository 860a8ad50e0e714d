//! Starts a command: reserves a slot for it, creates its pipes, sends it to the supervisor and waits until a
//! keeper has accepted it.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{
    io,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::timeout;
use toolwright_command_protocol::SandboxSupport;

#[cfg(unix)]
use super::CommandRole;
use super::{CommandSpec, MAX_RUNNING, TaskManager, TaskTable};
use crate::{
    command_output::CommandOutput,
    ending::StopReason,
    task::{RunMode, Task, TaskKind},
};
#[cfg(unix)]
use crate::{
    launcher::{CommandStreams, Launcher, input_of},
    reactor::{Reactor, WatchedCommand},
    task::NewTask,
};

/// The longest command in bytes. Linux accepts no argument of 128 KiB or more.
pub const MAX_COMMAND_BYTES: usize = 120_000;
/// How long processes that a shell leaves behind may continue before they are stopped: long enough for a
/// process substitution to write its last output.
#[cfg(unix)]
const LINGER_MS: u32 = 200;
/// How long to wait for a keeper to accept a command before the supervisor is checked and resumed.
const ACCEPT_TIMEOUT: Duration = Duration::from_millis(500);
/// How often to wait for [`ACCEPT_TIMEOUT`] altogether.
const MAX_WAITS: usize = 60;
/// How often in a row a supervisor may be found stopped or gone before it is replaced.
const MAX_RESUMES: usize = 4;
/// How often to send a command before starting it fails.
const MAX_LAUNCHES: usize = 3;

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Too many tasks run.
    #[error("{MAX_RUNNING} tasks are running already; stop one, or wait for one to end")]
    TooMany,
    /// The command has this many bytes, which is more than [`MAX_COMMAND_BYTES`].
    #[error("the command has {0} bytes, and at most {MAX_COMMAND_BYTES} can be run")]
    TooLong(usize),
    /// The registry is closed.
    #[error("the registry is closed")]
    Closed,
    /// The system could not start the command.
    #[error("the command could not be started: {0}")]
    Failed(#[from] io::Error),
    /// The command needs a sandbox, and it cannot be made.
    #[error("the command was not started, because its sandbox cannot be made: {0}")]
    NoSandbox(String),
    /// Commands are not supported on this system.
    #[cfg(not(unix))]
    #[error("commands cannot be run on this system yet")]
    Unsupported,
}

/// What happened to a request to run a command.
enum RequestProgress {
    /// A keeper has accepted it.
    Accepted,
    /// The connection was closed before a keeper accepted it, so none ever will.
    Lost,
    /// No keeper has accepted it, and the supervisor does not keep running when it is resumed.
    Stuck,
    /// No keeper has accepted it for far too long. The system may have no room for another process.
    TimedOut,
}

/// Abandons a command when dropped, unless it was disarmed because a keeper has accepted the
/// command.
struct StartGuard<'a>(&'a Task);

impl StartGuard<'_> {
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for StartGuard<'_> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// One of the [`MAX_RUNNING`] tasks, reserved while the task is being started.
pub(super) struct ReservedSlot<'a>(&'a TaskManager);

impl ReservedSlot<'_> {
    /// Frees the slot, because the running task now counts instead.
    pub(super) fn release_to_task(self, tasks: &mut TaskTable) {
        tasks.starting -= 1;
        std::mem::forget(self);
    }
}

impl Drop for ReservedSlot<'_> {
    fn drop(&mut self) {
        self.0.tasks.lock().starting -= 1;
    }
}

/// The supervisor and the reading thread, which are started with the first command.
#[cfg(unix)]
pub(super) struct CommandEngine {
    pub(super) launcher: Arc<Launcher>,
    pub(super) reactor: Reactor,
}

#[cfg(unix)]
impl std::fmt::Debug for CommandEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CommandEngine")
    }
}

impl TaskManager {
    /// Starts a command and waits until it is certain that it runs. A supervisor that was stopped by a signal
    /// is resumed, and one that is gone is replaced.
    pub async fn launch(self: &Arc<Self>, spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        if !self.is_warm() {
            self.blocking(Self::warm_up).await??;
        }
        for _ in 0..MAX_LAUNCHES {
            let task = self.start(spec.clone())?;
            let guard = StartGuard(&task);
            match self.is_accepted(&task).await {
                RequestProgress::Accepted => {
                    guard.disarm();
                    return Ok(task);
                }
                // If the supervisor is gone, the next attempt starts a new one.
                RequestProgress::Lost => {}
                RequestProgress::Stuck => {
                    drop(guard);
                    self.blocking(Self::renew_supervisor).await?;
                }
                RequestProgress::TimedOut => break,
            }
        }
        Err(StartError::Failed(io::Error::other("the supervisor does not accept it")))
    }

    /// Waits until a keeper accepts a command. A busy supervisor is waited for. A supervisor that
    /// is found stopped again and again counts as stuck.
    async fn is_accepted(&self, task: &Task) -> RequestProgress {
        let mut was_stopped = 0;
        for _ in 0..MAX_WAITS {
            if was_stopped >= MAX_RESUMES {
                return RequestProgress::Stuck;
            }
            match timeout(ACCEPT_TIMEOUT, task.accepted()).await {
                Ok(true) => return RequestProgress::Accepted,
                Ok(false) => return RequestProgress::Lost,
                Err(_) if self.resume_supervisor() => was_stopped = 0,
                Err(_) => was_stopped += 1,
            }
        }
        RequestProgress::TimedOut
    }

    /// Runs work that may block on a thread for blocking work.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, StartError> {
        let me = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&me))
            .await
            .map_err(|error| StartError::Failed(io::Error::other(error)))
    }

    /// Sends a command to the supervisor. The first one blocks for a few milliseconds.
    #[cfg(unix)]
    fn start(&self, spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        use std::os::unix::net::UnixStream;

        let length = spec.text_bytes();
        if length > MAX_COMMAND_BYTES {
            return Err(StartError::TooLong(length));
        }
        let engine = self.engine()?;
        let pipe = || -> io::Result<(OwnedFd, OwnedFd)> {
            let (read_end, write_end) = io::pipe()?;
            rustix::io::ioctl_fionbio(&read_end, true)?;
            Ok((read_end.into(), write_end.into()))
        };
        let (output_end, output) = pipe()?;
        let (connection, keeper_end) = UnixStream::pair()?;
        connection.set_nonblocking(true)?;
        let (id, file_name, slot) = self.next_names(spec.run_mode)?;
        let (proxy, proxy_link) = match &spec.proxy {
            Some(starter) => {
                let (ours, theirs) = UnixStream::pair()?;
                (Some(starter.start(ours)?), Some(OwnedFd::from(theirs)))
            }
            None => (None, None),
        };
        let request = spec.request(&self.settings, LINGER_MS);
        let files = Arc::clone(&self.files);
        let (mut kept, errors, errors_end, streams) = match &spec.role {
            CommandRole::Model | CommandRole::FixedText { .. } => {
                let kept = CommandOutput::new(files, file_name, self.settings.max_file_bytes);
                (kept, None, None, CommandStreams { output, errors: None, input: None, proxy_link })
            }
            CommandRole::Helper { input, kept_bytes } => {
                let (errors_end, errors) = pipe()?;
                let input = Some(input_of(input)?);
                let kept = || CommandOutput::beginning(Arc::clone(&files), *kept_bytes);
                let streams = CommandStreams { output, errors: Some(errors), input, proxy_link };
                (kept(), Some(kept()), Some(errors_end), streams)
            }
            CommandRole::Server { pipes, .. } => {
                let streams = CommandStreams {
                    errors: Some(output),
                    output: pipes.output.try_clone()?,
                    input: Some(pipes.input.try_clone()?),
                    proxy_link,
                };
                (CommandOutput::beginning(files, 0), None, None, streams)
            }
        };
        let plan = spec.sandbox.as_deref();
        let settings = &self.settings;
        let not_contained =
            engine.launcher.launch(request, streams, plan, keeper_end, settings, self.files())?;
        let sandbox = engine.launcher.applied(spec.sandbox);
        if spec.is_streamed {
            kept.listen();
        }
        if spec.run_mode == RunMode::Background {
            kept.spill();
        }
        let connection = Arc::new(connection);
        let task = Arc::new(Task::new(NewTask {
            id,
            kind: TaskKind::Command,
            command: spec.command.into(),
            description: spec.description.map(Into::into),
            session_id: spec.session_id.into(),
            not_contained,
            sandbox,
            run_mode: spec.run_mode,
            output: kept,
            errors,
            connection: Some(Arc::clone(&connection)),
            proxy,
            manager: Weak::clone(&self.me),
        }));
        let mut tasks = self.tasks.lock();
        tasks.running.insert(task.id.clone(), Arc::clone(&task));
        if let Some(slot) = slot {
            slot.release_to_task(&mut tasks);
        }
        let closed = tasks.closed;
        drop(tasks);
        if !task.is_contained() {
            // A child of this process runs already.
            task.note_accepted(None);
        }
        engine.reactor.watch(WatchedCommand {
            task: Arc::clone(&task),
            connection,
            output: Some(output_end),
            errors: errors_end,
            received: Vec::new(),
        });
        if closed {
            // The registry was closed while the command was being started, and may not have stopped it.
            task.stop(StopReason::Asked, Duration::ZERO);
        }
        Ok(task)
    }

    /// Commands are not supported on this system yet.
    #[cfg(not(unix))]
    fn start(&self, _spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        Err(StartError::Unsupported)
    }

    pub(super) fn next_names(
        &self,
        run_mode: RunMode,
    ) -> Result<(String, String, Option<ReservedSlot<'_>>), StartError> {
        let mut tasks = self.tasks.lock();
        if tasks.closed {
            return Err(StartError::Closed);
        }
        Ok(match run_mode {
            RunMode::Background => {
                if tasks.background_tasks() >= MAX_RUNNING {
                    return Err(StartError::TooMany);
                }
                tasks.next_task += 1;
                tasks.starting += 1;
                let name = format!("task_{}", tasks.next_task);
                (name.clone(), format!("{name}.txt"), Some(ReservedSlot(self)))
            }
            RunMode::Foreground => {
                tasks.next_command += 1;
                let name = format!("command_{}", tasks.next_command);
                (name.clone(), format!("{name}.txt"), None)
            }
        })
    }

    #[cfg(unix)]
    fn engine(&self) -> Result<Arc<CommandEngine>, StartError> {
        let mut engine = self.engine.lock();
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        if self.tasks.lock().closed {
            return Err(StartError::Closed);
        }
        let launcher = Arc::new(Launcher::start(&self.settings, self.files()));
        let checked = Arc::clone(&launcher);
        let reactor = Reactor::start(move || {
            checked.resume();
        })?;
        let started = Arc::new(CommandEngine { launcher, reactor });
        *engine = Some(Arc::clone(&started));
        Ok(started)
    }

    /// Starts the supervisor and the reading thread now, which blocks for some milliseconds.
    pub(crate) fn warm_up(&self) -> Result<(), StartError> {
        #[cfg(unix)]
        self.engine()?.launcher.try_again(&self.settings, self.files());
        Ok(())
    }

    /// The sandbox features of this machine. Starts the supervisor if it does not run, which blocks
    /// for some milliseconds.
    pub fn sandbox_support_now(&self) -> SandboxSupport {
        #[cfg(unix)]
        if let Ok(engine) = self.engine() {
            engine.launcher.try_again(&self.settings, self.files());
            return engine.launcher.sandbox_support();
        }
        SandboxSupport::default()
    }

    /// True if the supervisor and the reading thread run, so that starting a command does not
    /// block.
    pub fn is_warm(&self) -> bool {
        #[cfg(unix)]
        {
            let engine = self.engine.lock();
            engine.as_ref().is_some_and(|it| it.launcher.is_settled())
        }
        #[cfg(not(unix))]
        true
    }

    /// Resumes the supervisor if it was stopped by a signal. Returns true if it was not.
    fn resume_supervisor(&self) -> bool {
        #[cfg(unix)]
        if let Some(engine) = &*self.engine.lock() {
            return engine.launcher.resume();
        }
        false
    }

    /// Replaces the supervisor. Commands that it started continue.
    fn renew_supervisor(&self) {
        #[cfg(unix)]
        if let Ok(engine) = self.engine() {
            engine.launcher.renew(&self.settings, self.files());
        }
    }

    /// Drops the supervisor and the reading thread. The returned channel closes once the supervisor
    /// has exited.
    #[cfg(unix)]
    pub(super) fn take_engine(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        self.engine.lock().take()?.launcher.close()
    }
}
