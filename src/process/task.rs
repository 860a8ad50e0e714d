//! One command: its output, its end, and the ways to end it.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::{Duration, Instant, SystemTime},
};

use serde::Serialize;
use tokio::sync::watch;

use super::{
    manager::TaskManager,
    output::{Output, Part, SpillState},
    protocol::Ended,
};

/// Who waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A call that ends with it.
    Fore,
    /// Nobody; it is asked after by its id.
    Back,
}

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

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The exit code of the shell, where it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
    /// Why it could not be started or followed.
    pub failure: Option<String>,
    /// Why it was stopped, where it was.
    pub stopped_for: Option<StopReason>,
    /// Processes that outlived the shell and were stopped.
    pub leftovers: u32,
    /// Processes that could not be stopped.
    pub survivors: u32,
    /// The shell's last working directory, where it could tell.
    pub cwd: Option<PathBuf>,
    /// How long it took, until all of it was gone.
    pub duration: Duration,
}

/// What changes while a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pulse {
    total: u64,
    ended: bool,
}

/// A command that runs or has run.
#[derive(Debug)]
pub struct Task {
    /// Its id; that of a foreground command is never told.
    pub id: String,
    /// What it runs.
    pub command: Arc<str>,
    /// What it is for, in the caller's words.
    pub description: Option<Arc<str>>,
    /// The conversation that started it.
    pub session_id: Arc<str>,
    /// When it started.
    pub started_at: SystemTime,
    /// True when whatever it starts is found and ended with it, also when the host is gone.
    pub contained: bool,
    ground: Mutex<Ground>,
    started: Instant,
    output: Mutex<Output>,
    heard: Mutex<Instant>,
    pulse: watch::Sender<Pulse>,
    stop_reason: OnceLock<StopReason>,
    ending: OnceLock<Ending>,
    #[cfg(unix)]
    line: Arc<std::os::unix::net::UnixStream>,
    manager: Weak<TaskManager>,
}

/// What a task is made of.
pub(super) struct Parts {
    pub(super) id: String,
    pub(super) command: Arc<str>,
    pub(super) description: Option<Arc<str>>,
    pub(super) session_id: Arc<str>,
    pub(super) contained: bool,
    pub(super) ground: Ground,
    pub(super) output: Output,
    #[cfg(unix)]
    pub(super) line: Arc<std::os::unix::net::UnixStream>,
    pub(super) manager: Weak<TaskManager>,
}

impl Task {
    pub(super) fn new(parts: Parts) -> Self {
        let now = Instant::now();
        Self {
            id: parts.id,
            command: parts.command,
            description: parts.description,
            session_id: parts.session_id,
            started_at: SystemTime::now(),
            contained: parts.contained,
            ground: Mutex::new(parts.ground),
            started: now,
            output: Mutex::new(parts.output),
            heard: Mutex::new(now),
            pulse: watch::Sender::default(),
            stop_reason: OnceLock::new(),
            ending: OnceLock::new(),
            #[cfg(unix)]
            line: parts.line,
            manager: parts.manager,
        }
    }

    /// Who waits for it.
    pub fn ground(&self) -> Ground {
        *lock(&self.ground)
    }

    pub(super) fn send_to_background(&self) {
        *lock(&self.ground) = Ground::Back;
        lock(&self.output).spill();
    }

    /// What it is at.
    pub fn state(&self) -> TaskState {
        match self.ending.get() {
            None => TaskState::Running,
            Some(Ending { stopped_for: Some(_), .. }) => TaskState::Stopped,
            Some(Ending { exit_code: Some(0), .. }) => TaskState::Completed,
            Some(_) => TaskState::Failed,
        }
    }

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.get()
    }

    /// How long it has run, or ran.
    pub fn duration(&self) -> Duration {
        self.ending.get().map_or_else(|| self.started.elapsed(), |it| it.duration)
    }

    /// How many bytes of output have come.
    pub fn total(&self) -> u64 {
        self.pulse.borrow().total
    }

    /// How long it has said nothing; one that waits for its listener has more to say.
    pub fn silence(&self) -> Duration {
        if lock(&self.output).is_full() { Duration::ZERO } else { lock(&self.heard).elapsed() }
    }

    /// Waits for its end.
    pub async fn ended(&self) -> Ending {
        let mut pulse = self.pulse.subscribe();
        // The sender lives as long as we do.
        let _ = pulse.wait_for(|it| it.ended).await;
        self.ending.get().cloned().unwrap_or_else(|| self.ending_of(None))
    }

    /// Waits for output beyond so many bytes, or the end.
    pub async fn output_beyond(&self, seen: u64) {
        let mut pulse = self.pulse.subscribe();
        let _ = pulse.wait_for(|it| it.ended || it.total > seen).await;
    }

    /// All of the output, while memory holds it.
    pub fn whole(&self) -> Option<Vec<u8>> {
        lock(&self.output).whole()
    }

    /// The beginning and the end of the output, and where all of it is.
    pub fn ends(&self) -> (Vec<u8>, Vec<u8>) {
        lock(&self.output).ends()
    }

    /// Where a copy of the whole output is.
    pub fn spill_state(&self) -> SpillState {
        lock(&self.output).spill_state()
    }

    /// Makes sure that there is a file with the whole output.
    pub fn spill(&self) -> SpillState {
        let mut output = lock(&self.output);
        output.spill();
        if self.ending.get().is_some() {
            output.settle();
        }
        output.spill_state()
    }

    /// A part of the output.
    pub fn part(&self, offset: u64, max: usize) -> io::Result<Part> {
        lock(&self.output).part(offset, max)
    }

    /// Ends it: TERM now, KILL after the grace. Does nothing when it has ended.
    pub fn stop(&self, reason: StopReason, grace: Duration) {
        if self.ending.get().is_some() {
            return;
        }
        let _ = self.stop_reason.set(reason);
        let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        self.tell(&super::protocol::stop_message(grace));
    }

    #[cfg(unix)]
    fn tell(&self, message: &[u8]) {
        // One whose other end is gone has ended; its end is on the way.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::send(&*self.line, message, rustix::net::SendFlags::NOSIGNAL);
        #[cfg(not(target_os = "linux"))]
        let _ = std::io::Write::write(&mut &*self.line, message);
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there are no tasks on this system")]
    fn tell(&self, _message: &[u8]) {}

    /// Takes what a listener has not heard. The command goes on where it had to wait.
    pub fn take_waiting(&self) -> Vec<u8> {
        let (waiting, was_full) = lock(&self.output).take_waiting();
        if was_full {
            // It could not speak until now.
            *lock(&self.heard) = Instant::now();
            if let Some(manager) = self.manager.upgrade() {
                manager.look_again();
            }
        }
        waiting
    }

    /// Takes what a listener has not heard, for the last time: output is not kept for it any more.
    pub fn stop_listening(&self) -> Vec<u8> {
        let waiting = self.take_waiting();
        lock(&self.output).stop_listening();
        waiting
    }

    pub(super) fn wants_output(&self) -> bool {
        !lock(&self.output).is_full()
    }

    pub(super) fn append(&self, chunk: &[u8]) {
        let total = {
            let mut output = lock(&self.output);
            output.append(chunk);
            output.total()
        };
        *lock(&self.heard) = Instant::now();
        self.pulse.send_modify(|it| it.total = total);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn only_counts_output(&self) -> bool {
        lock(&self.output).only_counts()
    }

    #[cfg(target_os = "linux")]
    pub(super) fn skip(&self, bytes: u64) {
        let total = {
            let mut output = lock(&self.output);
            output.skip(bytes);
            output.total()
        };
        *lock(&self.heard) = Instant::now();
        self.pulse.send_modify(|it| it.total = total);
    }

    /// Notes the end; nothing stands for a command whose end nobody saw.
    pub(super) fn finish(&self, ended: Option<Ended>) {
        let _ = self.ending.set(self.ending_of(ended));
        lock(&self.output).settle();
        if let Some(manager) = self.manager.upgrade() {
            manager.ended(&self.id);
        }
        self.pulse.send_modify(|it| it.ended = true);
    }

    fn ending_of(&self, ended: Option<Ended>) -> Ending {
        let failure = match &ended {
            None => Some("the process that watched over the command was killed".to_owned()),
            Some(ended) => ended.spawn_error.map(|it| io::Error::from_raw_os_error(it).to_string()),
        };
        let ended = ended.unwrap_or_default();
        Ending {
            exit_code: ended.exit_code,
            signal: ended.signal,
            failure,
            stopped_for: self.stop_reason.get().copied(),
            leftovers: ended.stopped,
            survivors: ended.survivors,
            cwd: ended.cwd.map(path_of),
            duration: self.started.elapsed(),
        }
    }
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind our locks is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
