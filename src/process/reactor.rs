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
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

#[cfg(target_os = "linux")]
use super::output::KEPT;
use super::{
    protocol::{Ended, MAX_CWD_BYTES},
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

/// A command to listen to.
pub(super) struct Watched {
    pub(super) task: Arc<Task>,
    pub(super) line: Arc<UnixStream>,
    /// Closed once there is no more to read.
    pub(super) output: Option<OwnedFd>,
}

/// Hands commands to the thread. The thread ends when this is dropped and the last command has ended.
pub(super) struct Reactor {
    inbox: Arc<Inbox>,
    waker: UnixStream,
}

#[derive(Default)]
struct Inbox {
    fresh: Mutex<Vec<Watched>>,
    closing: AtomicBool,
}

impl Reactor {
    pub(super) fn start() -> io::Result<Self> {
        let (waker, woken) = UnixStream::pair()?;
        waker.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let inbox = Arc::<Inbox>::default();
        let inbox_of_thread = Arc::clone(&inbox);
        thread::Builder::new()
            .name("toolwright-output".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || listen(&inbox_of_thread, woken))?;
        Ok(Self { inbox, waker })
    }

    pub(super) fn watch(&self, watched: Watched) {
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

fn listen(inbox: &Inbox, mut woken: UnixStream) {
    let mut buffer = vec![0; CHUNK];
    #[cfg(target_os = "linux")]
    let nowhere = std::fs::File::options().write(true).open("/dev/null").ok();
    let mut watched: Vec<Watched> = Vec::new();
    loop {
        // Read before the inbox: whoever adds to it is then seen now or wakes us again.
        let closing = inbox.closing.load(Ordering::Acquire);
        watched.append(&mut inbox.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        if closing && watched.is_empty() {
            return;
        }
        let ready = wait(&woken, &watched);
        let mut wake_ups = [0; 64];
        while woken.read(&mut wake_ups).is_ok_and(|it| it == wake_ups.len()) {}
        let mut flooded = false;
        let mut index = 0;
        watched.retain_mut(|it| {
            let Ready { output, line } = ready.get(index).copied().unwrap_or_default();
            index += 1;
            #[cfg(target_os = "linux")]
            if output && nowhere.as_ref().is_some_and(|nowhere| it.skim(nowhere)) {
                flooded = true;
                return !(line && it.hear_end(&mut buffer));
            }
            if output {
                flooded |= it.read(&mut buffer);
            }
            !(line && it.hear_end(&mut buffer))
        });
        if flooded {
            thread::sleep(FLOOD_PAUSE);
        }
    }
}

/// What a command has for us.
#[derive(Clone, Copy, Default)]
struct Ready {
    output: bool,
    line: bool,
}

fn wait(woken: &UnixStream, watched: &[Watched]) -> Vec<Ready> {
    // Asked once: a listener may catch up while we wait.
    let outputs: Vec<Option<&OwnedFd>> = watched.iter().map(Watched::readable).collect();
    let mut polled = Vec::with_capacity(1 + 2 * watched.len());
    polled.push(PollFd::new(woken, PollFlags::IN));
    for (it, output) in watched.iter().zip(&outputs) {
        polled.push(PollFd::new(&*it.line, PollFlags::IN));
        polled.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
    }
    match poll(&mut polled, None) {
        Ok(_) | Err(Errno::INTR) => {}
        // Nothing else can go wrong but a lack of memory, which passes.
        Err(_) => thread::sleep(Duration::from_millis(10)),
    }
    let mut events = polled.iter().skip(1).map(|it| !it.revents().is_empty());
    let mut next = || events.next().unwrap_or_default();
    outputs
        .iter()
        .map(|output| Ready { line: next(), output: output.is_some() && next() })
        .collect()
}

impl Watched {
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

    /// Hears how the command ended; true when it has.
    fn hear_end(&mut self, buffer: &mut [u8]) -> bool {
        let mut message = [0; MAX_CWD_BYTES + 256];
        let ended = match (&*self.line).read(&mut message) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                return false;
            }
            Ok(length) => message.get(..length).and_then(Ended::decode),
            Err(_) => None,
        };
        let mut rest = MAX_LAST_WORDS;
        while let Some(output) = &self.output
            && rest > 0
        {
            match rustix::io::read(output, &mut *buffer) {
                Ok(length) if length > 0 => {
                    rest = rest.saturating_sub(length);
                    self.task.append(buffer.get(..length).unwrap_or_default());
                }
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => self.output = None,
            }
        }
        self.task.finish(ended);
        true
    }
}
