//! The thread that reads the output of commands and the messages of their keepers. One thread serves all
//! commands of a registry, and sleeps while none of them has anything to read.

use std::{
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use toolwright_command_protocol::{KeeperMessage, MAX_CWD_BYTES};

#[cfg(target_os = "linux")]
use super::command_output::KEPT;
use super::task::Task;

/// How many bytes are read at a time: few enough for the processor's cache.
const CHUNK: usize = 256 * 1024;
/// How often one command is read from before the next command gets its turn.
const READS_PER_TURN: usize = 4;
/// A command with this many bytes of output counts as a flood.
const FLOOD: u64 = 1024 * 1024;
/// The pipe size for a command that floods. Other commands keep the default, because the kernel
/// limits the memory of one user's pipes.
#[cfg(target_os = "linux")]
const FLOOD_PIPE: usize = 1024 * 1024;
/// In a flood the pipe may fill up for this long between reads. Waking for every few bytes would take
/// processor time away from the command.
const FLOOD_PAUSE: Duration = Duration::from_micros(300);
/// The most that is read from the pipe of a command that has ended. A process that does not belong
/// to the command may still have the pipe open and continue to write.
const MAX_REMAINING_BYTES: usize = 2 * 1024 * 1024;

/// How often to check whether the keepers of running commands were stopped, which commands can do.
#[cfg(target_os = "linux")]
const KEEPER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A command whose output and messages are read.
pub(super) struct WatchedCommand {
    pub(super) task: Arc<Task>,
    pub(super) connection: Arc<UnixStream>,
    /// The pipe with its output. None once it is at its end.
    pub(super) output: Option<OwnedFd>,
    /// The pipe with its errors, if they are separate. None once it is at its end.
    pub(super) errors: Option<OwnedFd>,
    /// Bytes from the keeper that are not a whole message yet.
    pub(super) received: Vec<u8>,
}

/// The state of a connection to a keeper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// More messages may arrive.
    Open,
    /// The command has ended, and its end is recorded.
    Ended,
    /// The connection was closed without a report of the end.
    Lost,
}

/// Passes commands to the thread. The thread ends once this is dropped and the last command has
/// ended.
pub(super) struct Reactor {
    inbox: Arc<Inbox>,
    waker: UnixStream,
}

#[derive(Default)]
struct Inbox {
    fresh: Mutex<Vec<WatchedCommand>>,
    closing: AtomicBool,
}

impl Reactor {
    /// Starts the thread. While commands run, it also calls `check_supervisor` at regular intervals.
    pub(super) fn start(check_supervisor: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (waker, woken) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let inbox = Arc::<Inbox>::default();
        let inbox_of_thread = Arc::clone(&inbox);
        thread::Builder::new()
            .name("toolwright-output".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || listen(&inbox_of_thread, woken, &check_supervisor))?;
        Ok(Self { inbox, waker })
    }

    pub(super) fn watch(&self, watched: WatchedCommand) {
        self.inbox.fresh.lock().push(watched);
        self.wake();
    }

    /// Wakes the thread, so that it checks every command again.
    pub(super) fn wake(&self) {
        // If the buffer is full, the thread is about to wake anyway.
        let _ = (&self.waker).write(&[1]);
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.inbox.closing.store(true, Ordering::Release);
        self.wake();
    }
}

fn listen(inbox: &Inbox, mut woken: UnixStream, check_supervisor: &dyn Fn()) {
    let mut buffer = vec![0; CHUNK];
    #[cfg(target_os = "linux")]
    let nowhere = std::fs::File::options().write(true).open("/dev/null").ok();
    let mut watched: Vec<WatchedCommand> = Vec::new();
    let mut keepers_checked = Instant::now();
    loop {
        // Read before the inbox: a command that is added later wakes this thread again.
        let closing = inbox.closing.load(Ordering::Acquire);
        watched.append(&mut inbox.fresh.lock());
        if closing && watched.is_empty() {
            return;
        }
        let ready = wait(&woken, &watched, poll_timeout(&watched, keepers_checked));
        let mut wake_ups = [0; 64];
        while woken.read(&mut wake_ups).is_ok_and(|it| it == wake_ups.len()) {}
        let mut flooded = false;
        let mut index = 0;
        watched.retain_mut(|it| {
            let Ready { output, errors, connection } =
                ready.get(index).copied().unwrap_or_default();
            index += 1;
            if errors {
                it.read_errors(&mut buffer);
            }
            #[cfg(target_os = "linux")]
            let is_discarded =
                output && nowhere.as_ref().is_some_and(|nowhere| it.discard_excess(nowhere));
            #[cfg(not(target_os = "linux"))]
            let is_discarded = false;
            flooded |= is_discarded || (output && it.read(&mut buffer));
            let state =
                if connection { it.read_messages(&mut buffer) } else { ConnectionState::Open };
            it.keep_watching(state)
        });
        if flooded {
            thread::sleep(FLOOD_PAUSE);
        }
        #[cfg(target_os = "linux")]
        if keepers_checked.elapsed() >= KEEPER_CHECK_INTERVAL {
            keepers_checked = Instant::now();
            // Keepers first, because the check of the supervisor resumes them too, without recording which
            // command was affected.
            for it in &watched {
                it.task.resume_keeper();
            }
            check_supervisor();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (&mut keepers_checked, check_supervisor);
    }
}

/// The longest wait: until the next check of the keepers, or until the host itself has to end a
/// command. Unlimited while there are no commands.
#[cfg(target_os = "linux")]
fn poll_timeout(watched: &[WatchedCommand], keepers_checked: Instant) -> Option<Duration> {
    if watched.is_empty() {
        return None;
    }
    let next = watched
        .iter()
        .filter_map(|it| it.task.rescue_at())
        .chain([keepers_checked + KEEPER_CHECK_INTERVAL])
        .min()?;
    // Rounded up: after waking too early the loop would poll without pause.
    Some(next.saturating_duration_since(Instant::now()) + Duration::from_millis(1))
}

/// Without a supervisor there are no keepers to check.
#[cfg(not(target_os = "linux"))]
fn poll_timeout(_watched: &[WatchedCommand], _looked: Instant) -> Option<Duration> {
    None
}

/// Which descriptors of a command can be read.
#[derive(Clone, Copy, Default)]
struct Ready {
    output: bool,
    errors: bool,
    connection: bool,
}

fn wait(woken: &UnixStream, watched: &[WatchedCommand], timeout: Option<Duration>) -> Vec<Ready> {
    // Evaluated once, because a listener may take its output while this waits.
    let outputs: Vec<Option<&OwnedFd>> = watched.iter().map(WatchedCommand::readable).collect();
    let mut polled = Vec::with_capacity(1 + 2 * watched.len());
    polled.push(PollFd::new(woken, PollFlags::IN));
    for (it, output) in watched.iter().zip(&outputs) {
        polled.push(PollFd::new(&*it.connection, PollFlags::IN));
        polled.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
        polled.extend(it.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
    }
    let timeout = timeout.and_then(|it| Timespec::try_from(it).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        // The only other error is a lack of memory, which may pass.
        Err(_) => thread::sleep(Duration::from_millis(10)),
    }
    let mut events = polled.iter().skip(1).map(|it| !it.revents().is_empty());
    let mut next = || events.next().unwrap_or_default();
    watched
        .iter()
        .zip(&outputs)
        .map(|(it, output)| Ready {
            connection: next(),
            output: output.is_some() && next(),
            errors: it.errors.is_some() && next(),
        })
        .collect()
}

impl WatchedCommand {
    /// The pipe with the output, unless the command has to wait for its listener.
    fn readable(&self) -> Option<&OwnedFd> {
        self.output.as_ref().filter(|_| self.task.wants_output())
    }

    /// Discards output that will not be kept, without copying it into this process. The last
    /// [`KEPT`] bytes stay in the pipe, because they may be the end of the output. Returns true if
    /// something was discarded.
    #[cfg(target_os = "linux")]
    fn discard_excess(&self, nowhere: &std::fs::File) -> bool {
        use rustix::pipe::{SpliceFlags, splice};

        let Some(output) = &self.output else { return false };
        if self.task.total() < FLOOD || !self.task.only_counts_output() {
            return false;
        }
        let available = rustix::io::ioctl_fionread(output).unwrap_or_default();
        let Some(mut excess) = usize::try_from(available).unwrap_or(0).checked_sub(KEPT) else {
            return false;
        };
        if excess < KEPT {
            return false;
        }
        while excess > 0 {
            match splice(output, None, nowhere, None, excess, SpliceFlags::NONBLOCK) {
                Ok(length) if length > 0 => {
                    self.task.skip(length as u64);
                    excess = excess.saturating_sub(length);
                }
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Reads the available output, up to a limit. Returns true if the command floods.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(output) = &self.output else { return false };
        let before = self.task.total();
        for _ in 0..READS_PER_TURN {
            match rustix::io::read(output, &mut *buffer) {
                Ok(0) => {
                    self.output = None;
                    return false;
                }
                Ok(length) => {
                    self.task.append(buffer.get(..length).unwrap_or_default());
                    if length < buffer.len() {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.output = None;
                    return false;
                }
            }
        }
        let total = self.task.total();
        #[cfg(target_os = "linux")]
        if before < FLOOD && total >= FLOOD {
            // Failure only makes reading slower.
            let _ = rustix::pipe::fcntl_setpipe_size(output, FLOOD_PIPE);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = before;
        total >= FLOOD
    }

    fn read_errors(&mut self, buffer: &mut [u8]) {
        let Some(errors) = &self.errors else { return };
        match rustix::io::read(errors, &mut *buffer) {
            Ok(length) if length > 0 => {
                self.task.append_error(buffer.get(..length).unwrap_or_default());
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => self.errors = None,
        }
    }

    /// Reads messages of the keeper and records them, including the end of the command.
    pub(super) fn read_messages(&mut self, buffer: &mut [u8]) -> ConnectionState {
        let mut piece = [0; MAX_CWD_BYTES + 256];
        let length = match (&*self.connection).read(&mut piece) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                return ConnectionState::Open;
            }
            Ok(length) => length,
            Err(_) => 0,
        };
        self.received.extend(piece.get(..length).unwrap_or_default());
        while let Some(received) = KeeperMessage::take(&mut self.received) {
            match received {
                KeeperMessage::Accepted(keeper) => self.task.note_accepted(Some(keeper)),
                KeeperMessage::Ended(mut ended) => {
                    ended.held_output |= self.read_remaining_output(buffer);
                    self.task.finish(ended);
                    return ConnectionState::Ended;
                }
            }
        }
        if length == 0 { ConnectionState::Lost } else { ConnectionState::Open }
    }

    /// Returns true to keep watching the command. A command whose keeper is gone, or has not ended
    /// it in time, is passed to [`super::rescue`].
    #[cfg(target_os = "linux")]
    fn keep_watching(&mut self, state: ConnectionState) -> bool {
        let is_late = self.task.rescue_at().is_some_and(|it| it <= Instant::now());
        match state {
            ConnectionState::Ended => return false,
            ConnectionState::Open if !is_late => return true,
            ConnectionState::Open | ConnectionState::Lost => {}
        }
        super::rescue::rescue(Self {
            task: Arc::clone(&self.task),
            connection: Arc::clone(&self.connection),
            output: self.output.take(),
            errors: self.errors.take(),
            received: std::mem::take(&mut self.received),
        });
        false
    }

    #[cfg(not(target_os = "linux"))]
    fn keep_watching(&mut self, state: ConnectionState) -> bool {
        if state == ConnectionState::Lost {
            self.task.finish_lost(0);
        }
        state == ConnectionState::Open
    }

    /// Reads the rest of the pipes of a command that has ended. Returns true if a process could
    /// still write to its output.
    pub(super) fn read_remaining_output(&mut self, buffer: &mut [u8]) -> bool {
        let task = Arc::clone(&self.task);
        read_rest(self.errors.take(), buffer, |chunk| task.append_error(chunk));
        read_rest(self.output.take(), buffer, |chunk| task.append(chunk))
    }
}

/// Reads the content of a pipe. Returns false if it reached the end.
fn read_rest(pipe: Option<OwnedFd>, buffer: &mut [u8], mut keep: impl FnMut(&[u8])) -> bool {
    let Some(pipe) = pipe else { return false };
    let mut rest = MAX_REMAINING_BYTES;
    while rest > 0 {
        match rustix::io::read(&pipe, &mut *buffer) {
            Ok(0) => return false,
            Ok(length) => {
                rest = rest.saturating_sub(length);
                keep(buffer.get(..length).unwrap_or_default());
            }
            Err(Errno::INTR) => {}
            Err(_) => return true,
        }
    }
    true
}
