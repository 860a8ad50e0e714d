//! One command and everything it ever started: runs it, and sees to it that all of it ends.

use std::{
    ffi::{CStr, CString},
    fs,
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, wait, waitid},
};

use crate::{
    descendants::{descendants, kill_all, signal_all},
    protocol::{CommandRequest, EndReport, KeeperMessage, MAX_CWD_BYTES, RequestKind, STOP_BYTES},
    shell_text::{becomes_a_program, is_whole},
    system_calls::{self, ProgramStart},
};

/// How long killed processes may take to be gone: one in the kernel's hands may have to wait for a disk.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// The most that processes get when the host is gone: nobody needs what they might still do.
const ORPHANED_GRACE_MS: u32 = 1_000;
/// How long to wait before looking again for processes to kill.
const KILL_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// How far the end of a command has come.
#[derive(Clone, Copy)]
enum Phase {
    /// The shell runs.
    Running,
    /// The shell has ended; what it left behind has this long to end by itself.
    Lingering(Instant),
    /// All have been asked to end, and have this long.
    Terminating(Instant),
    /// All are killed until none is left, or until this moment.
    Killing(Instant),
}

/// How long to wait for something to happen.
enum WaitTime {
    /// Until it does.
    Endless,
    /// At most so long.
    For(Duration),
    /// There is nothing more to be done.
    None,
}

/// A command to run, what it reads and writes, and its own line to the host.
pub(crate) struct AcceptedCommand {
    pub(crate) request: CommandRequest,
    pub(crate) streams: ShellStreams,
    pub(crate) connection: UnixStream,
}

/// What a command reads and writes.
pub(crate) struct ShellStreams {
    pub(crate) output: OwnedFd,
    /// Nothing where errors go to the output.
    pub(crate) errors: Option<OwnedFd>,
    /// Nothing where there is no input.
    pub(crate) input: Option<OwnedFd>,
}

/// Tells the host something; false when it is gone.
pub(crate) fn send(connection: &mut UnixStream, message: &KeeperMessage) -> bool {
    connection.write_all(&message.encode()).is_ok()
}

/// Runs a command to the end of all its processes and tells the host about it. The supervisor is told
/// once the command runs: the next spare has time until then.
pub(crate) fn oversee(
    accepted: AcceptedCommand,
    exits: &OwnedFd,
    environment: &[CString],
    take: OwnedFd,
) {
    let AcceptedCommand { request, streams, connection: mut host } = accepted;
    let ended =
        run(&request, streams, &mut host, exits, environment, take).unwrap_or_else(|error| {
            EndReport {
                spawn_error: Some(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())),
                ..EndReport::default()
            }
        });
    let _ = host.set_nonblocking(false);
    // A host that is gone needs no answer.
    send(&mut host, &KeeperMessage::Ended(ended));
}

fn run(
    request: &CommandRequest,
    streams: ShellStreams,
    host: &mut UnixStream,
    exits: &OwnedFd,
    environment: &[CString],
    take: OwnedFd,
) -> io::Result<EndReport> {
    let output = rustix::fs::fstat(&streams.output)?.st_ino;
    let shell = start(request, &streams, environment);
    drop(streams);
    let _ = rustix::io::write(&take, &std::process::id().to_le_bytes());
    drop(take);
    let shell = shell?;
    host.set_nonblocking(true)?;
    let mut overseer = Overseer {
        request,
        shell,
        output,
        status: None,
        cwd: None,
        phase: Phase::Running,
        stopped: 0,
        held_output: false,
    };
    let mut host_listens = true;
    loop {
        if overseer.reap() {
            break;
        }
        let timeout = match overseer.advance() {
            WaitTime::Endless => None,
            WaitTime::For(duration) => timespec(duration),
            WaitTime::None => break,
        };
        let mut ready = [PollFd::new(exits, PollFlags::IN), PollFd::new(host, PollFlags::IN)];
        // A host that has gone stays readable; it has said all it can.
        let watched = if host_listens { ready.as_mut_slice() } else { ready.split_at_mut(1).0 };
        match poll(watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [exited, asked] = ready.map(|it| !it.revents().is_empty());
        if exited {
            // Only says that it is time to reap; several exits may come as one.
            let mut news = [0; 128];
            let _ = rustix::io::read(exits, &mut news);
        }
        if host_listens && asked {
            let mut grace = [0; STOP_BYTES];
            match host.read(&mut grace) {
                Ok(STOP_BYTES) => overseer.stop(u32::from_le_bytes(grace)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => {
                    host_listens = false;
                    overseer.stop(request.grace_ms.min(ORPHANED_GRACE_MS));
                }
            }
        }
    }
    Ok(overseer.ended())
}

/// Starts the shell. It shares its current directory with this process, so that where it has gone is known
/// without a word of ours in what it runs.
fn start(
    request: &CommandRequest,
    streams: &ShellStreams,
    environment: &[CString],
) -> io::Result<Pid> {
    rustix::process::chdir(request.cwd.as_slice())?;
    let program = CString::new(request.shell.as_slice())?;
    // What the shell puts before its messages.
    let name = CString::new(shell_name(request))?;
    let mut text = request.command.clone();
    if is_whole(&text) {
        // A shell may become the last program of a text instead of starting it, and what that does to the
        // directory would be taken for a `cd` of the line. Where something follows, it does not.
        text.extend(b"\n\n");
    }
    let text = CString::new(text)?;
    let arguments: [&CStr; 4] = [&name, c"-c", &text, &name];
    system_calls::start_program(&ProgramStart {
        // A program that gives its user other rights does not where somebody shares its directory. A shell
        // that becomes one is not followed in any case.
        shares_directory: !becomes_a_program(&request.command),
        program: &program,
        arguments: &arguments,
        environment,
        input: streams.input.as_ref(),
        output: &streams.output,
        errors: streams.errors.as_ref().unwrap_or(&streams.output),
    })
}

fn shell_name(request: &CommandRequest) -> &[u8] {
    request.shell.rsplit(|it| *it == b'/').next().unwrap_or(b"sh")
}

struct Overseer<'a> {
    request: &'a CommandRequest,
    shell: Pid,
    /// The number of the pipe that output goes to.
    output: u64,
    status: Option<WaitStatus>,
    /// Where the shell was when it ended.
    cwd: Option<Vec<u8>>,
    phase: Phase,
    stopped: usize,
    held_output: bool,
}

impl Overseer<'_> {
    /// Takes note of every child that has ended; true when there is none left.
    fn reap(&mut self) -> bool {
        if self.status.is_none() {
            self.note_directory();
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.shell && (status.exited() || status.signaled()) {
                        self.status = Some(status);
                    }
                }
                Ok(None) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Notes where the shell is when it has ended and is not forgotten yet. One that became another program
    /// has taken that program's name, and is not followed where that went.
    fn note_directory(&mut self) {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !matches!(waitid(WaitId::Pid(self.shell), look), Ok(Some(_))) {
            return;
        }
        let name = fs::read(format!("/proc/{}/comm", self.shell.as_raw_nonzero()));
        let wanted = shell_name(self.request);
        let wanted = wanted.get(..MAX_NAME_BYTES).unwrap_or(wanted);
        if name.is_ok_and(|it| it.strip_suffix(b"\n") == Some(wanted)) {
            self.cwd = rustix::process::getcwd(Vec::new()).ok().and_then(known_place);
        }
    }

    /// Goes on to the next phase when it is time; gives how long to wait for something to happen.
    fn advance(&mut self) -> WaitTime {
        let now = Instant::now();
        match self.phase {
            Phase::Running if self.status.is_some() => {
                self.phase = Phase::Lingering(now + milliseconds(self.request.linger_ms));
            }
            Phase::Lingering(until) if now >= until => {
                self.held_output = self.request.kind == RequestKind::Helper
                    && descendants().into_iter().any(|it| writes_to(it.pid, self.output));
                self.stopped = self.terminate(self.request.grace_ms);
            }
            Phase::Terminating(until) if now >= until => {
                self.phase = Phase::Killing(now + KILL_TIMEOUT);
            }
            Phase::Running | Phase::Lingering(_) | Phase::Terminating(_) | Phase::Killing(_) => {}
        }
        match self.phase {
            Phase::Running => WaitTime::Endless,
            Phase::Lingering(until) | Phase::Terminating(until) => {
                WaitTime::For(until.saturating_duration_since(now))
            }
            Phase::Killing(until) if now >= until => WaitTime::None,
            Phase::Killing(_) => {
                kill_all();
                WaitTime::For(KILL_RETRY_INTERVAL)
            }
        }
    }

    /// Ends the command now, whatever phase it is in. Being asked again may only shorten the grace.
    fn stop(&mut self, grace_ms: u32) {
        let until = Instant::now() + milliseconds(grace_ms);
        match self.phase {
            Phase::Running | Phase::Lingering(_) => {
                self.terminate(grace_ms);
            }
            Phase::Terminating(planned) => self.phase = Phase::Terminating(planned.min(until)),
            Phase::Killing(_) => {}
        }
    }

    /// Asks all to end; gives how many there were.
    fn terminate(&mut self, grace_ms: u32) -> usize {
        self.phase = Phase::Terminating(Instant::now() + milliseconds(grace_ms));
        let count = signal_all(Signal::TERM);
        // One that was stopped would not hear.
        signal_all(Signal::CONT);
        count
    }

    fn ended(self) -> EndReport {
        EndReport {
            exit_code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            spawn_error: None,
            stopped: count(self.stopped),
            survivors: if matches!(self.phase, Phase::Killing(_)) {
                count(descendants().len())
            } else {
                0
            },
            held_output: self.held_output,
            cwd: self.cwd,
        }
    }
}

/// The kernel keeps so many bytes of a program's name.
const MAX_NAME_BYTES: usize = 15;

/// A directory that can be told: one that is gone has no path.
fn known_place(place: CString) -> Option<Vec<u8>> {
    let place = place.into_bytes();
    (place.first() == Some(&b'/') && place.len() <= MAX_CWD_BYTES).then_some(place)
}

/// True when a process has a pipe open.
fn writes_to(pid: i32, pipe: u64) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let name = format!("pipe:[{pipe}]");
    descriptors
        .flatten()
        .any(|it| fs::read_link(it.path()).is_ok_and(|link| link.as_os_str() == name.as_str()))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn milliseconds(number: u32) -> Duration {
    Duration::from_millis(u64::from(number))
}

fn timespec(duration: Duration) -> Option<Timespec> {
    // Rounded up: waking early would spin until the moment has come.
    Timespec::try_from(duration + Duration::from_micros(100)).ok()
}
