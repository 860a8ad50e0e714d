//! The keeper of a command: runs it, and ends all processes that it started.

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
    shell_arguments::{shell_arguments, shell_name},
    shell_text::{execs_a_program, is_complete},
    system_calls::{self, ProgramStart},
};

/// How long to wait for killed processes to be gone. A process in the kernel may be waiting for a disk.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest grace when the host is gone. No one needs the results of the command any more.
const ORPHANED_GRACE_MS: u32 = 1_000;
/// The pause before looking again for processes to kill.
const KILL_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The phases of a command, from its start to its end.
#[derive(Clone, Copy)]
enum Phase {
    /// The shell is running.
    Running,
    /// The shell has exited. Processes that it left behind may continue until this moment.
    Lingering(Instant),
    /// All processes got SIGTERM, and have until this moment to exit.
    Terminating(Instant),
    /// All processes are killed until none is left, or until this moment.
    Killing(Instant),
}

/// How long to wait for something to happen.
enum WaitTime {
    /// As long as it takes.
    Endless,
    /// At most this long.
    For(Duration),
    /// Not at all: there is nothing left to wait for.
    None,
}

/// A command to run, with its descriptors and its connection to the host.
pub(crate) struct AcceptedCommand {
    pub(crate) request: CommandRequest,
    pub(crate) streams: ShellStreams,
    pub(crate) connection: UnixStream,
}

/// The descriptors that become the standard streams of the shell.
pub(crate) struct ShellStreams {
    pub(crate) output: OwnedFd,
    /// None when errors go to the output.
    pub(crate) errors: Option<OwnedFd>,
    /// None for an empty input.
    pub(crate) input: Option<OwnedFd>,
}

/// Sends a message to the host; false when the host is gone.
pub(crate) fn send(connection: &mut UnixStream, message: &KeeperMessage) -> bool {
    connection.write_all(&message.encode()).is_ok()
}

/// Runs a command until all its processes have ended, and reports that to the host. The supervisor learns
/// through `take` that this spare was used, but only once the command runs: creating a new spare can wait.
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
    // Fails only if the host is gone.
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
        // A closed connection stays readable, and would make `poll` return at once.
        let watched = if host_listens { ready.as_mut_slice() } else { ready.split_at_mut(1).0 };
        match poll(watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [exited, asked] = ready.map(|it| !it.revents().is_empty());
        if exited {
            // Only a reason to reap: the exits of several children may be reported as one.
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

/// Starts the shell. It shares its current directory with this process, so that the directory in which it
/// ends is known without adding anything to the command.
fn start(
    request: &CommandRequest,
    streams: &ShellStreams,
    environment: &[CString],
) -> io::Result<Pid> {
    rustix::process::chdir(request.cwd.as_slice())?;
    let program = CString::new(request.shell.as_slice())?;
    let mut text = request.command.clone();
    if is_complete(&text) {
        // Instead of starting the last program of a text, a shell may replace itself with it (`execve`). If
        // that program changed its directory, it would look like a `cd` of the shell. With an empty line
        // after it, the program is not the last.
        text.extend(b"\n\n");
    }
    let parameters = request.parameters.iter().map(Vec::as_slice);
    let arguments = shell_arguments(&request.shell, &text)
        .into_iter()
        .chain(parameters)
        .map(CString::new)
        .collect::<Result<Vec<_>, _>>()?;
    let arguments: Vec<&CStr> = arguments.iter().map(CString::as_c_str).collect();
    system_calls::start_program(&ProgramStart {
        // A program that gives its user other rights does not where somebody shares its directory. A shell
        // that becomes one is not followed in any case.
        shares_directory: !execs_a_program(&request.command),
        program: &program,
        arguments: &arguments,
        environment,
        input: streams.input.as_ref(),
        output: &streams.output,
        errors: streams.errors.as_ref().unwrap_or(&streams.output),
    })
}

struct Overseer<'a> {
    request: &'a CommandRequest,
    shell: Pid,
    /// The inode number of the output pipe.
    output: u64,
    status: Option<WaitStatus>,
    /// The working directory of the shell when it exited.
    cwd: Option<Vec<u8>>,
    phase: Phase,
    stopped: usize,
    held_output: bool,
}

impl Overseer<'_> {
    /// Reaps every child that has exited; true when there is no child left.
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

    /// Records the working directory of the shell after it has exited and before it is reaped. If the shell
    /// has replaced itself with another program, it has that program's name, and the directory is ignored.
    fn note_directory(&mut self) {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !matches!(waitid(WaitId::Pid(self.shell), look), Ok(Some(_))) {
            return;
        }
        let name = fs::read(format!("/proc/{}/comm", self.shell.as_raw_nonzero()));
        let wanted = shell_name(&self.request.shell);
        let wanted = wanted.get(..MAX_NAME_BYTES).unwrap_or(wanted);
        if name.is_ok_and(|it| it.strip_suffix(b"\n") == Some(wanted)) {
            self.cwd = rustix::process::getcwd(Vec::new()).ok().and_then(reportable_directory);
        }
    }

    /// Enters the next phase if it is time; returns how long to wait for the next event.
    fn advance(&mut self) -> WaitTime {
        let now = Instant::now();
        match self.phase {
            Phase::Running if self.status.is_some() => {
                self.phase = Phase::Lingering(now + milliseconds(self.request.linger_ms));
            }
            Phase::Lingering(until) if now >= until => {
                self.held_output = self.request.kind != RequestKind::Command
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

    /// Stops the command, whatever phase it is in. A second request can only shorten the grace.
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

    /// Sends SIGTERM to all processes of the command; returns how many there were.
    fn terminate(&mut self, grace_ms: u32) -> usize {
        self.phase = Phase::Terminating(Instant::now() + milliseconds(grace_ms));
        let count = signal_all(Signal::TERM);
        // A stopped process does not handle SIGTERM until it is resumed.
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

/// How many bytes of a program's name the kernel keeps.
const MAX_NAME_BYTES: usize = 15;

/// A directory that can be reported. One that was removed has no absolute path.
fn reportable_directory(directory: CString) -> Option<Vec<u8>> {
    let directory = directory.into_bytes();
    (directory.first() == Some(&b'/') && directory.len() <= MAX_CWD_BYTES).then_some(directory)
}

/// True when a process has the pipe with this inode number open.
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
    // Rounded up, because waking too early would mean polling without pause until then.
    Timespec::try_from(duration + Duration::from_micros(100)).ok()
}
