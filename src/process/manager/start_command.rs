//! Starting a command: a place for it, what it reads and writes, and the certainty that somebody runs it.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{
    io,
    path::PathBuf,
    sync::{Arc, PoisonError, Weak},
    time::Duration,
};

use tokio::time::timeout;

use super::{MAX_RUNNING, TaskManager, TaskTable};
#[cfg(unix)]
use crate::process::{
    command_output::CommandOutput,
    launcher::{CommandStreams, Launcher, input_of},
    protocol::{CommandRequest, RequestKind},
    reactor::{Reactor, WatchedCommand},
    task::NewTask,
};
use crate::process::{
    ending::StopReason,
    task::{RunMode, Task},
};

/// The longest command: the system takes no argument of 128 KiB or more.
pub const MAX_COMMAND_BYTES: usize = 120_000;
/// How long processes that a shell leaves behind may take to end by themselves: long enough for the last
/// words of a process substitution.
#[cfg(unix)]
const LINGER_MS: u32 = 200;
/// How long a supervisor may take to hand over a command before something is done about it.
const TAKING_PATIENCE: Duration = Duration::from_millis(500);
/// How often that is waited for altogether.
const MAX_WAITS: usize = 60;
/// How often a supervisor is found stopped or gone before another takes its place.
const MAX_RESUMES: usize = 4;
/// How often a command is handed to another supervisor because nobody takes it.
const MAX_LAUNCHES: usize = 3;
/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Too many tasks run.
    #[error(
        "{MAX_RUNNING} tasks are running already; stop one with TaskStop, or wait for one to end"
    )]
    TooMany,
    /// The system takes no command of that many bytes.
    #[error("the command has {0} bytes, and at most {MAX_COMMAND_BYTES} can be run")]
    TooLong(usize),
    /// The registry is closed.
    #[error("the registry is closed")]
    Closed,
    /// The system said no.
    #[error("the command could not be started: {0}")]
    Failed(#[from] io::Error),
    /// Not on this system.
    #[error("commands cannot be run on this system yet")]
    Unsupported,
}

/// What a command is to the host.
#[derive(Clone, Debug)]
pub enum CommandRole {
    /// A model's: without input, outputs in one, in an environment without secrets.
    Model,
    /// The host's own, to help it: with this input, its outputs apart and only their beginnings kept, in the
    /// host's environment.
    Helper {
        /// What it reads.
        input: Vec<u8>,
        /// How many bytes of each output are kept.
        kept_bytes: usize,
    },
}

/// A command to start.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Whose it is.
    pub role: CommandRole,
    /// What the shell runs.
    pub command: String,
    /// What it is for.
    pub description: Option<String>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The conversation.
    pub session_id: String,
    /// Who waits for it.
    pub run_mode: RunMode,
    /// True when somebody takes its output as it comes, with [`Task::take_waiting`].
    pub is_heard: bool,
}

/// What became of a request to run a command.
enum RequestProgress {
    /// Somebody runs it.
    Taken,
    /// Nobody ever will.
    Lost,
    /// Nobody has, and the supervisor does not stay set going.
    Stuck,
    /// Nobody has for far too long: the system may have no room for another process.
    Late,
}

/// Ends a command that nobody is known to run, unless it is told that somebody does.
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

/// The place of a task that is being started, among those that may run.
#[cfg(unix)]
struct ReservedSlot<'a>(&'a TaskManager);

#[cfg(unix)]
impl ReservedSlot<'_> {
    /// Gives the place up to the task, which runs.
    fn becomes_a_task(self, tasks: &mut TaskTable) {
        tasks.starting -= 1;
        std::mem::forget(self);
    }
}

#[cfg(unix)]
impl Drop for ReservedSlot<'_> {
    fn drop(&mut self) {
        self.0.lock().starting -= 1;
    }
}

/// What is started with the first command.
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
    /// Starts a command and waits until it is certain that it runs. A supervisor that somebody stopped is
    /// set going again, and one that is gone is replaced.
    pub async fn launch(self: &Arc<Self>, spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        if !self.is_warm() {
            self.blocking(Self::warm_up).await??;
        }
        for _ in 0..MAX_LAUNCHES {
            let task = self.start(spec.clone())?;
            let guard = StartGuard(&task);
            match self.is_taken(&task).await {
                RequestProgress::Taken => {
                    guard.disarm();
                    return Ok(task);
                }
                // The next start notices where there is no supervisor any more.
                RequestProgress::Lost => {}
                RequestProgress::Stuck => {
                    drop(guard);
                    self.blocking(Self::renew_supervisor).await?;
                }
                RequestProgress::Late => break,
            }
        }
        Err(StartError::Failed(io::Error::other("the supervisor does not take it")))
    }

    /// Waits until somebody runs a command. A supervisor that has much to do is waited for; one that was
    /// stopped and does not stay set going is given up.
    async fn is_taken(&self, task: &Task) -> RequestProgress {
        let mut was_stopped = 0;
        for _ in 0..MAX_WAITS {
            if was_stopped >= MAX_RESUMES {
                return RequestProgress::Stuck;
            }
            match timeout(TAKING_PATIENCE, task.taken()).await {
                Ok(true) => return RequestProgress::Taken,
                Ok(false) => return RequestProgress::Lost,
                Err(_) if self.resume_supervisor() => was_stopped = 0,
                Err(_) => was_stopped += 1,
            }
        }
        RequestProgress::Late
    }

    /// Does something that may block elsewhere.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, StartError> {
        let me = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&me))
            .await
            .map_err(|error| StartError::Failed(io::Error::other(error)))
    }

    /// Asks for a command to be run. The first one takes a few milliseconds, which block.
    #[cfg(unix)]
    fn start(&self, spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        use std::os::unix::{ffi::OsStrExt as _, net::UnixStream};

        if spec.command.len() > MAX_COMMAND_BYTES {
            return Err(StartError::TooLong(spec.command.len()));
        }
        let engine = self.engine()?;
        let pipe = || -> io::Result<(OwnedFd, OwnedFd)> {
            let (read_end, write_end) = io::pipe()?;
            rustix::io::ioctl_fionbio(&read_end, true)?;
            Ok((read_end.into(), write_end.into()))
        };
        let (output_end, output) = pipe()?;
        let (line, theirs) = UnixStream::pair()?;
        line.set_nonblocking(true)?;
        let (id, file_name, place) = self.next_names(spec.run_mode)?;
        let (kind, shell) = match spec.role {
            CommandRole::Model => (RequestKind::Command, &self.settings.shell),
            CommandRole::Helper { .. } => (RequestKind::Helper, &self.settings.helper_shell),
        };
        let request = CommandRequest {
            kind,
            linger_ms: LINGER_MS,
            grace_ms: self.settings.grace_ms(),
            shell: shell.as_os_str().as_bytes().to_vec(),
            cwd: spec.cwd.as_os_str().as_bytes().to_vec(),
            command: spec.command.as_bytes().to_vec(),
        };
        let files = Arc::clone(&self.files);
        let (mut kept, errors, errors_end, streams) = match &spec.role {
            CommandRole::Model => {
                let kept = CommandOutput::new(files, file_name, self.settings.max_file_bytes);
                (kept, None, None, CommandStreams { output, errors: None, input: None })
            }
            CommandRole::Helper { input, kept_bytes } => {
                let (errors_end, errors) = pipe()?;
                let input = Some(input_of(input)?);
                let kept = || CommandOutput::beginning(Arc::clone(&files), *kept_bytes);
                let streams = CommandStreams { output, errors: Some(errors), input };
                (kept(), Some(kept()), Some(errors_end), streams)
            }
        };
        let contained =
            engine.launcher.launch(request, streams, theirs, &self.settings, self.files())?;
        if spec.is_heard {
            kept.listen();
        }
        if spec.run_mode == RunMode::Background {
            kept.spill();
        }
        let line = Arc::new(line);
        let task = Arc::new(Task::new(NewTask {
            id,
            command: spec.command.into(),
            description: spec.description.map(Into::into),
            session_id: spec.session_id.into(),
            contained,
            run_mode: spec.run_mode,
            output: kept,
            errors,
            line: Arc::clone(&line),
            manager: Weak::clone(&self.me),
        }));
        let mut tasks = self.lock();
        tasks.running.insert(task.id.clone(), Arc::clone(&task));
        if let Some(place) = place {
            place.becomes_a_task(&mut tasks);
        }
        let closed = tasks.closed;
        drop(tasks);
        if !contained {
            // A child of this process runs already.
            task.note_taken(None);
        }
        engine.reactor.watch(WatchedCommand {
            task: Arc::clone(&task),
            line,
            output: Some(output_end),
            errors: errors_end,
            news: Vec::new(),
        });
        if closed {
            // Closed while it was being started; whoever closes may not have seen it.
            task.stop(StopReason::Asked, Duration::ZERO);
        }
        Ok(task)
    }

    /// There is no way to run commands here yet.
    #[cfg(not(unix))]
    fn start(&self, _spec: CommandSpec) -> Result<Arc<Task>, StartError> {
        Err(StartError::Unsupported)
    }

    #[cfg(unix)]
    fn next_names(
        &self,
        run_mode: RunMode,
    ) -> Result<(String, String, Option<ReservedSlot<'_>>), StartError> {
        let mut tasks = self.lock();
        if tasks.closed {
            return Err(StartError::Closed);
        }
        Ok(match run_mode {
            RunMode::Background => {
                if tasks.running_tasks() >= MAX_RUNNING {
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
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        if self.lock().closed {
            return Err(StartError::Closed);
        }
        let launcher = Arc::new(Launcher::start(&self.settings, self.files()));
        let looked_after = Arc::clone(&launcher);
        let reactor = Reactor::start(move || {
            looked_after.resume();
        })?;
        let started = Arc::new(CommandEngine { launcher, reactor });
        *engine = Some(Arc::clone(&started));
        Ok(started)
    }

    /// Starts what the first command would start, which blocks for some milliseconds.
    pub fn warm_up(&self) -> Result<(), StartError> {
        #[cfg(unix)]
        self.engine()?;
        Ok(())
    }

    /// True when starting a command does not block any more.
    pub fn is_warm(&self) -> bool {
        #[cfg(unix)]
        return self.engine.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        #[cfg(not(unix))]
        true
    }

    /// Sets the supervisor going again where somebody stopped it; true when it was going.
    fn resume_supervisor(&self) -> bool {
        #[cfg(unix)]
        if let Some(engine) = &*self.engine.lock().unwrap_or_else(PoisonError::into_inner) {
            return engine.launcher.resume();
        }
        false
    }

    /// Replaces the supervisor; what it had started goes on.
    fn renew_supervisor(&self) {
        #[cfg(unix)]
        if let Ok(engine) = self.engine() {
            engine.launcher.renew(&self.settings, self.files());
        }
    }

    /// Lets go of what the first command started. What comes back is closed once the supervisor has ended.
    #[cfg(unix)]
    pub(super) fn take_engine(&self) -> Option<tokio::sync::oneshot::Receiver<()>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).take()?.launcher.close()
    }
}
