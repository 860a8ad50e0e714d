//! The thread that reads what commands say, and hears of their end. One serves all commands of a
//! registry; it sleeps while they are silent.

use std::{
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

#[cfg(target_os = "linux")]
use super::command_output::KEPT;
use super::{
    protocol::{KeeperMessage, MAX_CWD_BYTES},
    task::Task,
};

/// How much is read at a time: little enough for a processor's cache.
const CHUNK: usize = 256 * 1024;
/// How many reads one command gets before it is another's turn.
const READS: usize = 4;
/// From here on a command's output counts as a flood.
const FLOOD: u64 = 1024 * 1024;
/// The size of the pipe of a flooding command. Not of every command: pipes count against a user's limit.
#[cfg(target_os = "linux")]
const FLOOD_PIPE: usize = 1024 * 1024;
/// In a flood we let the pipe fill up for so long: waking for every few bytes would take the command's
/// processor away from it.
const FLOOD_PAUSE: Duration = Duration::from_micros(300);
/// What may still be in a pipe whose writers are gone. Somebody who is not ours may hold the pipe open
/// and go on writing.
const MAX_LAST_WORDS: usize = 2 * 1024 * 1024;

/// How often the keepers of running commands are looked at: commands can stop them.
#[cfg(target_os = "linux")]
const LOOK: Duration = Duration::from_secs(1);

/// A command to listen to.
pub(super) struct WatchedCommand {
    pub(super) task: Arc<Task>,
    pub(super) line: Arc<UnixStream>,
    /// Closed once there is no more to read.
    pub(super) output: Option<OwnedFd>,
    /// The same for errors, where they come apart.
    pub(super) errors: Option<OwnedFd>,
    /// What has come over the line and is not a whole message yet.
    pub(super) news: Vec<u8>,
}

/// What a line has told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineState {
    /// There may be more.
    Open,
    /// The command has ended, and that is noted.
    Ended,
    /// Whoever had the other end is gone without a word.
    Lost,
}

/// Hands commands to the thread. The thread ends when this is dropped and the last command has ended.
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
    /// Starts the thread. Now and then while commands run it looks after what may have been stopped.
    pub(super) fn start(look_after: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (waker, woken) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let inbox = Arc::<Inbox>::default();
        let inbox_of_thread = Arc::clone(&inbox);
        thread::Builder::new()
            .name("toolwright-output".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || listen(&inbox_of_thread, woken, &look_after))?;
        Ok(Self { inbox, waker })
    }

    pub(super) fn watch(&self, watched: WatchedCommand) {
        self.inbox.fresh.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        self.wake();
    }

    /// Makes the thread look at every command again.
    pub(super) fn wake(&self) {
        // A full buffer means that it will wake in any case.
        let _ = (&self.waker).write(&[1]);
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.inbox.closing.store(true, Ordering::Release);
        self.wake();
    }
}

fn listen(inbox: &Inbox, mut woken: UnixStream, look_after: &dyn Fn()) {
    let mut buffer = vec![0; CHUNK];
    #[cfg(target_os = "linux")]
    let nowhere = std::fs::File::options().write(true).open("/dev/null").ok();
    let mut watched: Vec<WatchedCommand> = Vec::new();
    let mut looked = Instant::now();
    loop {
        // Read before the inbox: whoever adds to it is then seen now or wakes us again.
        let closing = inbox.closing.load(Ordering::Acquire);
        watched.append(&mut inbox.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        if closing && watched.is_empty() {
            return;
        }
        let ready = wait(&woken, &watched, patience(&watched, looked));
        let mut wake_ups = [0; 64];
        while woken.read(&mut wake_ups).is_ok_and(|it| it == wake_ups.len()) {}
        let mut flooded = false;
        let mut index = 0;
        watched.retain_mut(|it| {
            let Ready { output, errors, line } = ready.get(index).copied().unwrap_or_default();
            index += 1;
            if errors {
                it.read_errors(&mut buffer);
            }
            #[cfg(target_os = "linux")]
            let is_skimmed = output && nowhere.as_ref().is_some_and(|nowhere| it.skim(nowhere));
            #[cfg(not(target_os = "linux"))]
            let is_skimmed = false;
            flooded |= is_skimmed || (output && it.read(&mut buffer));
            let state = if line { it.hear(&mut buffer) } else { LineState::Open };
            it.goes_on(state)
        });
        if flooded {
            thread::sleep(FLOOD_PAUSE);
        }
        #[cfg(target_os = "linux")]
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            // Keepers first: the supervisor's look sets them going without knowing whose they are.
            for it in &watched {
                it.task.look_after_keeper();
            }
            look_after();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (&mut looked, look_after);
    }
}

/// How long to wait for commands at most: until the next look at their keepers, or until the first of them
/// has to be ended from here. Endlessly while there are none.
#[cfg(target_os = "linux")]
fn patience(watched: &[WatchedCommand], looked: Instant) -> Option<Duration> {
    if watched.is_empty() {
        return None;
    }
    let next = watched.iter().filter_map(|it| it.task.rescue_at()).chain([looked + LOOK]).min()?;
    // Rounded up: waking early would spin until the moment has come.
    Some(next.saturating_duration_since(Instant::now()) + Duration::from_millis(1))
}

/// Nobody can be stopped here: commands are children of this process.
#[cfg(not(target_os = "linux"))]
fn patience(_watched: &[WatchedCommand], _looked: Instant) -> Option<Duration> {
    None
}

/// What a command has for us.
#[derive(Clone, Copy, Default)]
struct Ready {
    output: bool,
    errors: bool,
    line: bool,
}

fn wait(woken: &UnixStream, watched: &[WatchedCommand], patience: Option<Duration>) -> Vec<Ready> {
    // Asked once: a listener may catch up while we wait.
    let outputs: Vec<Option<&OwnedFd>> = watched.iter().map(WatchedCommand::readable).collect();
    let mut polled = Vec::with_capacity(1 + 2 * watched.len());
    polled.push(PollFd::new(woken, PollFlags::IN));
    for (it, output) in watched.iter().zip(&outputs) {
        polled.push(PollFd::new(&*it.line, PollFlags::IN));
        polled.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
        polled.extend(it.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
    }
    let patience = patience.and_then(|it| Timespec::try_from(it).ok());
    match poll(&mut polled, patience.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        // Nothing else can go wrong but a lack of memory, which passes.
        Err(_) => thread::sleep(Duration::from_millis(10)),
    }
    let mut events = polled.iter().skip(1).map(|it| !it.revents().is_empty());
    let mut next = || events.next().unwrap_or_default();
    watched
        .iter()
        .zip(&outputs)
        .map(|(it, output)| Ready {
            line: next(),
            output: output.is_some() && next(),
            errors: it.errors.is_some() && next(),
        })
        .collect()
}

impl WatchedCommand {
    /// The output, while it is wanted.
    fn readable(&self) -> Option<&OwnedFd> {
        self.output.as_ref().filter(|_| self.task.wants_output())
    }

    /// Throws away what nobody will see, without ever having it in memory: all but the end of what is in
    /// the pipe, which may be the end of all. True when there was much of it.
    #[cfg(target_os = "linux")]
    fn skim(&self, nowhere: &std::fs::File) -> bool {
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

    /// Reads what there is, within bounds; true when there seems to be no end to it.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(output) = &self.output else { return false };
        let before = self.task.total();
        for _ in 0..READS {
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
            // Only makes it faster.
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

    /// Hears what the line has to tell, the end of the command included.
    pub(super) fn hear(&mut self, buffer: &mut [u8]) -> LineState {
        let mut piece = [0; MAX_CWD_BYTES + 256];
        let length = match (&*self.line).read(&mut piece) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                return LineState::Open;
            }
            Ok(length) => length,
            Err(_) => 0,
        };
        self.news.extend(piece.get(..length).unwrap_or_default());
        while let Some(news) = KeeperMessage::take(&mut self.news) {
            match news {
                KeeperMessage::Taken(keeper) => self.task.note_taken(Some(keeper)),
                KeeperMessage::Ended(mut ended) => {
                    ended.held_output |= self.hear_last_words(buffer);
                    self.task.finish(ended);
                    return LineState::Ended;
                }
            }
        }
        if length == 0 { LineState::Lost } else { LineState::Open }
    }

    /// True when the command is still to be listened to. One whose keeper is gone, or cannot end it, is
    /// handed to whoever ends it from here.
    #[cfg(target_os = "linux")]
    fn goes_on(&mut self, state: LineState) -> bool {
        let is_late = self.task.rescue_at().is_some_and(|it| it <= Instant::now());
        match state {
            LineState::Ended => return false,
            LineState::Open if !is_late => return true,
            LineState::Open | LineState::Lost => {}
        }
        super::rescue::rescue(Self {
            task: Arc::clone(&self.task),
            line: Arc::clone(&self.line),
            output: self.output.take(),
            errors: self.errors.take(),
            news: std::mem::take(&mut self.news),
        });
        false
    }

    #[cfg(not(target_os = "linux"))]
    fn goes_on(&mut self, state: LineState) -> bool {
        if state == LineState::Lost {
            self.task.finish_lost(0);
        }
        state == LineState::Open
    }

    /// Reads what is left in the pipes of a command that has ended; true when somebody could still write to
    /// its output.
    pub(super) fn hear_last_words(&mut self, buffer: &mut [u8]) -> bool {
        let task = Arc::clone(&self.task);
        read_rest(self.errors.take(), buffer, |chunk| task.append_error(chunk));
        read_rest(self.output.take(), buffer, |chunk| task.append(chunk))
    }
}

/// Reads what is in a pipe; true when it has not come to its end with that.
fn read_rest(pipe: Option<OwnedFd>, buffer: &mut [u8], mut keep: impl FnMut(&[u8])) -> bool {
    let Some(pipe) = pipe else { return false };
    let mut rest = MAX_LAST_WORDS;
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
