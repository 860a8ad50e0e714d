//! One command, or an agent that runs like one: its output so far, how it ended, and how to stop
//! it.

mod finish;

use std::{
    io,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_command_protocol::{EndReport, ProcessIdentity};

use super::{
    command_output::{CommandOutput, OutputPart, SpillState},
    ending::{CommandEnding, KeeperTrouble, StopReason, TaskState},
    locate_supervisor::NoSupervisor,
    manager::TaskManager,
    sandbox::{AppliedSandbox, RunningProxy},
};

/// How long after the grace period a keeper may take to end a command. After that the host assumes
/// that the keeper was stopped or killed.
const KEEPER_TIMEOUT: Duration = Duration::from_millis(300);

/// Whether a call waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// A call waits for it and returns when it ends.
    Foreground,
    /// No call waits. The command is a task that is found by its id.
    Background,
}

/// What a task runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// A command, in processes.
    Command,
    /// An agent that a function of the host runs. It has no process here.
    Agent {
        /// The id of the agent.
        id: Arc<str>,
    },
}

/// The part of a task's state that callers wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskProgress {
    total: u64,
    is_accepted: bool,
    has_ended: bool,
}

/// A command, or an agent, that is running or has ended.
#[derive(Debug)]
pub struct Task {
    /// The id. The id of a foreground command is never shown.
    pub id: String,
    /// What it runs.
    pub kind: TaskKind,
    /// The command line, or the prompt of an agent.
    pub command: Arc<str>,
    /// The caller's description of it.
    pub description: Option<Arc<str>>,
    /// The session that started it.
    pub session_id: Arc<str>,
    /// The time of the start.
    pub started_at: SystemTime,
    /// Why processes that it starts may outlive it. `None` if they all end with it, even if the
    /// host is killed.
    pub not_contained: Option<NoSupervisor>,
    sandbox: AppliedSandbox,
    /// The part of the sandbox report that comes from the policy.
    policy_gaps: OnceLock<(Option<String>, Vec<String>)>,
    run_mode: Mutex<RunMode>,
    started: Instant,
    output: Mutex<CommandOutput>,
    /// The error output of a helper. For other commands it is part of the output.
    errors: Option<Mutex<CommandOutput>>,
    last_output_at: Mutex<Instant>,
    progress: watch::Sender<TaskProgress>,
    stop_reason: OnceLock<StopReason>,
    /// Cancelled when it is stopped. The code that runs a task without a process waits for this.
    stopping: CancellationToken,
    /// When the host kills the processes itself if the keeper has not ended the command by then.
    rescue_at: Mutex<Option<Instant>>,
    keeper: OnceLock<ProcessIdentity>,
    keeper_was_stopped: AtomicBool,
    ending: OnceLock<CommandEnding>,
    /// The connection to the keeper, until the command has ended.
    #[cfg(unix)]
    connection: Mutex<Option<Arc<std::os::unix::net::UnixStream>>>,
    /// The proxy of the command's network, until the command has ended.
    proxy: Mutex<Option<Box<dyn RunningProxy>>>,
    /// The targets that it was not allowed to reach, each with the reason.
    refused_targets: OnceLock<Vec<(String, String)>>,
    manager: Weak<TaskManager>,
}

/// The values of a new task.
pub(super) struct NewTask {
    pub(super) id: String,
    pub(super) kind: TaskKind,
    pub(super) command: Arc<str>,
    pub(super) description: Option<Arc<str>>,
    pub(super) session_id: Arc<str>,
    pub(super) not_contained: Option<NoSupervisor>,
    pub(super) sandbox: AppliedSandbox,
    pub(super) run_mode: RunMode,
    pub(super) output: CommandOutput,
    pub(super) errors: Option<CommandOutput>,
    /// `None` for a task without a process.
    #[cfg(unix)]
    pub(super) connection: Option<Arc<std::os::unix::net::UnixStream>>,
    /// The proxy of the command's network, if it has one.
    pub(super) proxy: Option<Box<dyn RunningProxy>>,
    pub(super) manager: Weak<TaskManager>,
}

impl Task {
    pub(super) fn new(parts: NewTask) -> Self {
        let now = Instant::now();
        Self {
            id: parts.id,
            kind: parts.kind,
            command: parts.command,
            description: parts.description,
            session_id: parts.session_id,
            started_at: SystemTime::now(),
            not_contained: parts.not_contained,
            sandbox: parts.sandbox,
            policy_gaps: OnceLock::new(),
            run_mode: Mutex::new(parts.run_mode),
            started: now,
            output: Mutex::new(parts.output),
            errors: parts.errors.map(Mutex::new),
            last_output_at: Mutex::new(now),
            progress: watch::Sender::default(),
            stop_reason: OnceLock::new(),
            stopping: CancellationToken::new(),
            rescue_at: Mutex::default(),
            keeper: OnceLock::new(),
            keeper_was_stopped: AtomicBool::new(false),
            ending: OnceLock::new(),
            #[cfg(unix)]
            connection: Mutex::new(parts.connection),
            proxy: Mutex::new(parts.proxy),
            refused_targets: OnceLock::new(),
            manager: parts.manager,
        }
    }

    /// True if every process that it starts ends with it, even if the host is killed.
    pub const fn is_contained(&self) -> bool {
        self.not_contained.is_none()
    }

    /// The sandbox that the kernel enforces.
    pub fn sandbox(&self) -> AppliedSandbox {
        let mut sandbox = self.sandbox.clone();
        if let Some((incomplete, not_held)) = self.policy_gaps.get() {
            sandbox.incomplete.clone_from(incomplete);
            sandbox.not_held.splice(0..0, not_held.iter().cloned());
        }
        sandbox
    }

    /// Records the restrictions in the policy that its sandbox does not enforce.
    pub fn note_policy_gaps(&self, incomplete: Option<String>, not_held: Vec<String>) {
        let _ = self.policy_gaps.set((incomplete, not_held));
    }

    /// True for an agent, which has no process and no exit code.
    pub const fn is_agent(&self) -> bool {
        matches!(self.kind, TaskKind::Agent { .. })
    }

    /// Whether a call waits for it.
    pub fn run_mode(&self) -> RunMode {
        *self.run_mode.lock()
    }

    pub(super) fn send_to_background(&self) {
        *self.run_mode.lock() = RunMode::Background;
        self.output.lock().spill();
    }

    /// The state of the task.
    pub fn state(&self) -> TaskState {
        match self.ending.get() {
            None => TaskState::Running,
            Some(CommandEnding { stopped_for: Some(_), .. }) => TaskState::Stopped,
            Some(CommandEnding { exit_code: Some(0), .. }) => TaskState::Completed,
            Some(CommandEnding { failure: None, .. }) if self.is_agent() => TaskState::Completed,
            Some(_) => TaskState::Failed,
        }
    }

    /// How it ended, if it has.
    pub fn ending(&self) -> Option<&CommandEnding> {
        self.ending.get()
    }

    /// How long it has been running, or ran until its end.
    pub fn duration(&self) -> Duration {
        self.ending.get().map_or_else(|| self.started.elapsed(), |it| it.duration)
    }

    /// How many bytes of output it has written so far.
    pub fn total(&self) -> u64 {
        self.progress.borrow().total
    }

    /// How long it has had no output. Zero while the command waits for a slow listener.
    pub(crate) fn idle_time(&self) -> Duration {
        if self.output.lock().is_full() {
            Duration::ZERO
        } else {
            self.last_output_at.lock().elapsed()
        }
    }

    /// Waits until the command has ended.
    pub async fn ended(&self) -> CommandEnding {
        let mut progress = self.progress.subscribe();
        // Cannot fail: the task owns the sender.
        let _ = progress.wait_for(|it| it.has_ended).await;
        let unknown = || self.ending_of(EndReport::default(), None, Some(KeeperTrouble::Killed));
        self.ending.get().cloned().unwrap_or_else(unknown)
    }

    /// Waits until a keeper accepts the command. Returns false if none ever will.
    pub(super) async fn accepted(&self) -> bool {
        let mut progress = self.progress.subscribe();
        let state = progress.wait_for(|it| it.is_accepted || it.has_ended).await;
        state.is_ok_and(|it| it.is_accepted)
    }

    /// True once a keeper has accepted the command.
    pub(super) fn is_accepted(&self) -> bool {
        self.progress.borrow().is_accepted
    }

    /// Records that the command runs. Without a supervisor there is no keeper.
    pub(super) fn note_accepted(&self, keeper: Option<ProcessIdentity>) {
        if let Some(keeper) = keeper {
            let _ = self.keeper.set(keeper);
        }
        if let Some(manager) = self.manager.upgrade() {
            manager.note_accepted(self);
        }
        self.progress.send_modify(|it| it.is_accepted = true);
    }

    /// Abandons the command. A keeper that accepts it later finds the connection closed.
    pub(super) fn give_up(&self) {
        self.stop(StopReason::Abandoned, Duration::ZERO);
        #[cfg(unix)]
        if let Some(connection) = self.connection.lock().as_ref() {
            let _ = connection.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Waits until there are more than `seen` bytes of output, or the command has ended.
    pub async fn output_beyond(&self, seen: u64) {
        let mut progress = self.progress.subscribe();
        let _ = progress.wait_for(|it| it.has_ended || it.total > seen).await;
    }

    /// The whole output, if all of it is in memory.
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.output.lock().whole()
    }

    /// The beginning of the error output, and its total length in bytes.
    pub fn errors(&self) -> (Vec<u8>, u64) {
        let errors = self.errors.as_ref().map(Mutex::lock);
        errors.map(|it| (it.ends().0, it.total())).unwrap_or_default()
    }

    /// The beginning and the end of the output.
    pub fn ends(&self) -> (Vec<u8>, Vec<u8>) {
        self.output.lock().ends()
    }

    /// The state of the file with the whole output.
    pub fn spill_state(&self) -> SpillState {
        self.output.lock().spill_state()
    }

    /// The path of the file with the whole output, if there is one.
    pub fn output_file(&self) -> Option<String> {
        match self.spill_state() {
            SpillState::File { path, .. } => Some(path.to_string_lossy().into_owned()),
            SpillState::None | SpillState::Failed(_) => None,
        }
    }

    /// Writes the whole output to a file, unless there is one already.
    pub fn spill(&self) -> SpillState {
        let mut output = self.output.lock();
        output.spill();
        if self.ending.get().is_some() {
            output.settle();
        }
        output.spill_state()
    }

    /// At most `max` bytes of the output from an offset on.
    pub fn part(&self, offset: u64, max: usize) -> io::Result<OutputPart> {
        self.output.lock().part(offset, max)
    }

    /// Stops it. A command gets SIGTERM now, and SIGKILL after the grace period. For an agent,
    /// [`Self::stopped`] resolves. Does nothing if it has ended.
    pub fn stop(&self, reason: StopReason, grace: Duration) {
        if self.ending.get().is_some() {
            return;
        }
        let _ = self.stop_reason.set(reason);
        self.stopping.cancel();
        let rescue_at = Instant::now() + grace + KEEPER_TIMEOUT;
        let earlier = *self.rescue_at.lock();
        *self.rescue_at.lock() = Some(earlier.map_or(rescue_at, |it| it.min(rescue_at)));
        let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        self.send(&toolwright_command_protocol::stop_message(grace));
        if let Some(manager) = self.manager.upgrade() {
            manager.wake_reader();
        }
    }

    /// Why it was stopped, if it was.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason.get().copied()
    }

    /// Resolves once it is stopped.
    pub async fn stopped(&self) {
        self.stopping.cancelled().await;
    }

    #[cfg(unix)]
    fn send(&self, message: &[u8]) {
        let Some(connection) = self.connection.lock().clone() else { return };
        // Fails only if the keeper is gone, which the reading thread notices.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::send(&*connection, message, rustix::net::SendFlags::NOSIGNAL);
        #[cfg(not(target_os = "linux"))]
        let _ = std::io::Write::write(&mut &*connection, message);
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there are no tasks on this system")]
    fn send(&self, _message: &[u8]) {}

    /// Takes the output since the last call, for a listener. A command that had to wait because too
    /// much was queued continues.
    pub(crate) fn take_waiting(&self) -> Vec<u8> {
        let (waiting, was_full) = self.output.lock().take_waiting();
        if was_full {
            // The command could not write until now.
            *self.last_output_at.lock() = Instant::now();
            if let Some(manager) = self.manager.upgrade() {
                manager.wake_reader();
            }
        }
        waiting
    }

    /// Like [`Self::take_waiting`], for the last time. Output is not queued any more.
    pub(crate) fn stop_listening(&self) -> Vec<u8> {
        let waiting = self.take_waiting();
        self.output.lock().stop_listening();
        waiting
    }

    pub(super) fn wants_output(&self) -> bool {
        !self.output.lock().is_full()
    }

    /// Adds output.
    pub fn append(&self, chunk: &[u8]) {
        let total = {
            let mut output = self.output.lock();
            output.append(chunk);
            output.total()
        };
        *self.last_output_at.lock() = Instant::now();
        self.progress.send_modify(|it| it.total = total);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn only_counts_output(&self) -> bool {
        self.output.lock().only_counts()
    }

    #[cfg(target_os = "linux")]
    pub(super) fn skip(&self, bytes: u64) {
        let total = {
            let mut output = self.output.lock();
            output.skip(bytes);
            output.total()
        };
        *self.last_output_at.lock() = Instant::now();
        self.progress.send_modify(|it| it.total = total);
    }

    pub(super) fn append_error(&self, chunk: &[u8]) {
        if let Some(errors) = &self.errors {
            errors.lock().append(chunk);
        }
        *self.last_output_at.lock() = Instant::now();
    }

    /// When the host has to kill the processes itself because the keeper has not ended the command.
    #[cfg(target_os = "linux")]
    pub(super) fn rescue_at(&self) -> Option<Instant> {
        self.rescue_at.lock().filter(|_| self.keeper.get().is_some())
    }

    /// The keeper, once it has accepted the command.
    #[cfg(target_os = "linux")]
    pub(super) fn keeper(&self) -> Option<ProcessIdentity> {
        self.keeper.get().copied()
    }

    /// Resumes the keeper if it was stopped by a signal.
    #[cfg(target_os = "linux")]
    pub(super) fn resume_keeper(&self) {
        use toolwright_command_protocol::{inspect_if_alive, signal};

        if let Some(keeper) = self.keeper()
            && inspect_if_alive(keeper).is_some_and(|it| it.is_stopped)
        {
            self.keeper_was_stopped.store(true, Ordering::Relaxed);
            signal(keeper, rustix::process::Signal::CONT);
        }
    }
}
