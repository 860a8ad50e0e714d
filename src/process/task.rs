//! One command: its output, its end, and the ways to end it.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tokio::sync::watch;

use super::{
    command_output::{CommandOutput, OutputPart, SpillState},
    ending::{CommandEnding, KeeperTrouble, StopReason, TaskState},
    manager::TaskManager,
    protocol::{EndReport, ProcessIdentity},
};

/// How long a keeper may take, beyond the grace, to have ended a command. Longer, it cannot.
const KEEPER_PATIENCE: Duration = Duration::from_millis(300);
/// Why a command that no keeper took was not run.
const NOBODY_TOOK_IT: &str = "the supervisor is gone";

/// Who waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// A call that ends with it.
    Foreground,
    /// Nobody; it is asked after by its id.
    Background,
}

/// What changes while a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskProgress {
    total: u64,
    taken: bool,
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
    run_mode: Mutex<RunMode>,
    started: Instant,
    output: Mutex<CommandOutput>,
    /// What it says of errors, where that is kept apart.
    errors: Option<Mutex<CommandOutput>>,
    heard: Mutex<Instant>,
    pulse: watch::Sender<TaskProgress>,
    stop_reason: OnceLock<StopReason>,
    /// When the host itself ends what is left of it.
    rescue_at: Mutex<Option<Instant>>,
    keeper: OnceLock<ProcessIdentity>,
    keeper_was_stopped: AtomicBool,
    ending: OnceLock<CommandEnding>,
    /// Until it has ended.
    #[cfg(unix)]
    line: Mutex<Option<Arc<std::os::unix::net::UnixStream>>>,
    manager: Weak<TaskManager>,
}

/// What a task is made of.
pub(super) struct NewTask {
    pub(super) id: String,
    pub(super) command: Arc<str>,
    pub(super) description: Option<Arc<str>>,
    pub(super) session_id: Arc<str>,
    pub(super) contained: bool,
    pub(super) run_mode: RunMode,
    pub(super) output: CommandOutput,
    pub(super) errors: Option<CommandOutput>,
    #[cfg(unix)]
    pub(super) line: Arc<std::os::unix::net::UnixStream>,
    pub(super) manager: Weak<TaskManager>,
}

impl Task {
    pub(super) fn new(parts: NewTask) -> Self {
        let now = Instant::now();
        Self {
            id: parts.id,
            command: parts.command,
            description: parts.description,
            session_id: parts.session_id,
            started_at: SystemTime::now(),
            contained: parts.contained,
            run_mode: Mutex::new(parts.run_mode),
            started: now,
            output: Mutex::new(parts.output),
            errors: parts.errors.map(Mutex::new),
            heard: Mutex::new(now),
            pulse: watch::Sender::default(),
            stop_reason: OnceLock::new(),
            rescue_at: Mutex::default(),
            keeper: OnceLock::new(),
            keeper_was_stopped: AtomicBool::new(false),
            ending: OnceLock::new(),
            #[cfg(unix)]
            line: Mutex::new(Some(parts.line)),
            manager: parts.manager,
        }
    }

    /// Who waits for it.
    pub fn run_mode(&self) -> RunMode {
        *lock(&self.run_mode)
    }

    pub(super) fn send_to_background(&self) {
        *lock(&self.run_mode) = RunMode::Background;
        lock(&self.output).spill();
    }

    /// What it is at.
    pub fn state(&self) -> TaskState {
        match self.ending.get() {
            None => TaskState::Running,
            Some(CommandEnding { stopped_for: Some(_), .. }) => TaskState::Stopped,
            Some(CommandEnding { exit_code: Some(0), .. }) => TaskState::Completed,
            Some(_) => TaskState::Failed,
        }
    }

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<&CommandEnding> {
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
    pub async fn ended(&self) -> CommandEnding {
        let mut pulse = self.pulse.subscribe();
        // The sender lives as long as we do.
        let _ = pulse.wait_for(|it| it.ended).await;
        let unseen = || self.ending_of(EndReport::default(), None, Some(KeeperTrouble::Killed));
        self.ending.get().cloned().unwrap_or_else(unseen)
    }

    /// Waits until somebody runs it; false when nobody ever will.
    pub(super) async fn taken(&self) -> bool {
        let mut pulse = self.pulse.subscribe();
        let news = pulse.wait_for(|it| it.taken || it.ended).await;
        news.is_ok_and(|it| it.taken)
    }

    /// True once somebody runs it.
    pub(super) fn is_taken(&self) -> bool {
        self.pulse.borrow().taken
    }

    /// Notes that somebody runs it: its keeper, where it has one.
    pub(super) fn note_taken(&self, keeper: Option<ProcessIdentity>) {
        if let Some(keeper) = keeper {
            let _ = self.keeper.set(keeper);
        }
        if let Some(manager) = self.manager.upgrade() {
            manager.taken(self);
        }
        self.pulse.send_modify(|it| it.taken = true);
    }

    /// Gives it up: whoever would still take it finds that nobody is there any more.
    pub(super) fn give_up(&self) {
        self.stop(StopReason::Abandoned, Duration::ZERO);
        #[cfg(unix)]
        if let Some(line) = lock(&self.line).as_ref() {
            let _ = line.shutdown(std::net::Shutdown::Both);
        }
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

    /// What it said of errors, from the beginning on, and how many bytes that were in all.
    pub fn errors(&self) -> (Vec<u8>, u64) {
        let errors = self.errors.as_ref().map(lock);
        errors.map(|it| (it.ends().0, it.total())).unwrap_or_default()
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
    pub fn part(&self, offset: u64, max: usize) -> io::Result<OutputPart> {
        lock(&self.output).part(offset, max)
    }

    /// Ends it: TERM now, KILL after the grace. Does nothing when it has ended.
    pub fn stop(&self, reason: StopReason, grace: Duration) {
        if self.ending.get().is_some() {
            return;
        }
        let _ = self.stop_reason.set(reason);
        let rescue_at = Instant::now() + grace + KEEPER_PATIENCE;
        let earlier = *lock(&self.rescue_at);
        *lock(&self.rescue_at) = Some(earlier.map_or(rescue_at, |it| it.min(rescue_at)));
        let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        self.tell(&super::protocol::stop_message(grace));
        if let Some(manager) = self.manager.upgrade() {
            manager.look_again();
        }
    }

    #[cfg(unix)]
    fn tell(&self, message: &[u8]) {
        let Some(line) = lock(&self.line).clone() else { return };
        // One whose other end is gone has ended; its end is on the way.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::send(&*line, message, rustix::net::SendFlags::NOSIGNAL);
        #[cfg(not(target_os = "linux"))]
        let _ = std::io::Write::write(&mut &*line, message);
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

    pub(super) fn append_error(&self, chunk: &[u8]) {
        if let Some(errors) = &self.errors {
            lock(errors).append(chunk);
        }
        *lock(&self.heard) = Instant::now();
    }

    /// When the host has to end what is left of it, because its keeper has not done so in its time.
    #[cfg(target_os = "linux")]
    pub(super) fn rescue_at(&self) -> Option<Instant> {
        lock(&self.rescue_at).filter(|_| self.keeper.get().is_some())
    }

    /// The process that watches over it.
    #[cfg(target_os = "linux")]
    pub(super) fn keeper(&self) -> Option<ProcessIdentity> {
        self.keeper.get().copied()
    }

    /// Sets its keeper going again where somebody stopped it.
    #[cfg(target_os = "linux")]
    pub(super) fn look_after_keeper(&self) {
        use super::descendants::{look_again, signal};

        if let Some(keeper) = self.keeper()
            && look_again(keeper).is_some_and(|it| it.is_stopped)
        {
            self.keeper_was_stopped.store(true, Ordering::Relaxed);
            signal(keeper, rustix::process::Signal::CONT);
        }
    }

    /// Notes the end, as the keeper tells it.
    pub(super) fn finish(&self, ended: EndReport) {
        let failure = ended.spawn_error.map(|it| io::Error::from_raw_os_error(it).to_string());
        let was_stopped = self.keeper_was_stopped.load(Ordering::Relaxed);
        let trouble = was_stopped.then_some(KeeperTrouble::Stopped);
        self.end(ended, failure, trouble);
    }

    /// Notes the end of a command whose keeper is gone. Without a keeper it never ran.
    pub(super) fn finish_lost(&self, survivors: u32) {
        let ended = EndReport { survivors, ..EndReport::default() };
        match self.keeper.get() {
            Some(_) => self.end(ended, None, Some(KeeperTrouble::Killed)),
            None => self.end(ended, Some(NOBODY_TOOK_IT.to_owned()), None),
        }
    }

    fn end(&self, ended: EndReport, failure: Option<String>, trouble: Option<KeeperTrouble>) {
        let _ = self.ending.set(self.ending_of(ended, failure, trouble));
        lock(&self.output).settle();
        #[cfg(unix)]
        lock(&self.line).take();
        if let Some(manager) = self.manager.upgrade() {
            manager.ended(&self.id);
        }
        self.pulse.send_modify(|it| it.ended = true);
    }

    fn ending_of(
        &self,
        ended: EndReport,
        failure: Option<String>,
        trouble: Option<KeeperTrouble>,
    ) -> CommandEnding {
        CommandEnding {
            exit_code: ended.exit_code,
            signal: ended.signal,
            failure,
            trouble,
            stopped_for: self.stop_reason.get().copied(),
            leftovers: ended.stopped,
            survivors: ended.survivors,
            held_output: ended.held_output,
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
