//! The keeper of a command: runs it, and ends all processes that it started.

use std::{
    ffi::CString,
    fs,
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus, wait},
};
use toolwright_command_protocol::{
    CommandRequest, EndReport, KeeperMessage, ProcessIdentity, RequestKind, STOP_BYTES,
    descendants, kill_all, signal,
};

use crate::{
    environments::Environments,
    first_process::{FirstProcess, InitSource, StartFailure, StartedInit, start_first_process},
    keeper_news::KeeperNews,
    sandbox::{
        Restrictions,
        foreseen_plan::PlanReports,
        init_link::{InitMessage, ShellEnd},
        limits::CommandLimits,
        namespaces::PreparedInit,
        placeholders::Placeholders,
    },
    shared_notes::SharedNotes,
    shell_start::{ShellStreams, last_directory},
};

/// How long to wait for killed processes to be gone. A process in the kernel may be waiting for a disk.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest grace period once the host is gone and does not need the results any more.
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
    /// All processes are killed repeatedly until none is left, or until this moment.
    Killing(Instant),
}

/// How long to wait for something to happen.
enum WaitTime {
    /// As long as it takes.
    Endless,
    /// At most this long.
    For(Duration),
    /// Not at all: the keeper gives up.
    None,
}

/// A command to run, with its descriptors and its connection to the host.
pub(crate) struct AcceptedCommand {
    /// The encoded request, to be passed on to PID 1 of a sandbox.
    pub(crate) message: Vec<u8>,
    pub(crate) request: CommandRequest,
    pub(crate) streams: ShellStreams,
    /// The file with the plan of its sandbox, if it has one.
    pub(crate) plan: Option<OwnedFd>,
    /// The socket over which its proxy receives the listening socket, if it has a proxy.
    pub(crate) proxy_link: Option<OwnedFd>,
    pub(crate) connection: UnixStream,
}

/// What the supervisor passes to a spare when it forks it.
pub(crate) struct SpareKnowledge {
    /// True if the last commands had a sandbox in namespaces, so that the spare prepares one.
    pub(crate) prepares: bool,
    /// The foreseen plan, and the way to report another one.
    pub(crate) reports: PlanReports,
    /// The socket for handing placeholders over, while the supervisor wants them.
    pub(crate) handover: OwnedFd,
    pub(crate) shared: &'static SharedNotes,
    /// Readable once the supervisor is gone.
    pub(crate) supervisor: OwnedFd,
    /// The pipe for [`KeeperNews`].
    pub(crate) take: OwnedFd,
}

/// What a keeper prepares before its command arrives.
pub(crate) struct KeeperSetup<'a> {
    pub(crate) exits: OwnedFd,
    pub(crate) environments: &'a Environments,
    pub(crate) cookie: CString,
    pub(crate) spare: SpareKnowledge,
    /// The socket with the host's requests. `None` once this process takes no more commands. If the
    /// supervisor is gone, only waiting spares keep it open, so the host notices when none is left.
    pub(crate) host: Option<OwnedFd>,
}

/// The most commands that one sandbox runs, so that unknown side effects cannot add up forever.
const MAX_USES: u32 = 256;

/// Sends a message to the host. Returns false if the host is gone.
pub(crate) fn send(connection: &mut UnixStream, message: &KeeperMessage) -> bool {
    connection.write_all(&message.encode()).is_ok()
}

/// Runs a command until all its processes have ended, and reports that to the host. Returns PID 1
/// of a sandbox that another command can use.
///
/// The supervisor is notified only after the command has started, because creating a new spare can
/// wait.
pub(crate) fn oversee(
    accepted: AcceptedCommand,
    setup: &mut KeeperSetup<'_>,
    init: Option<PreparedInit>,
) -> Option<PreparedInit> {
    let output = rustix::fs::fstat(&accepted.streams.output).map_or(0, |it| it.st_ino);
    let AcceptedCommand { message, request, streams, plan, proxy_link, connection: mut host } =
        accepted;
    let KeeperSetup { exits, environments, cookie, spare, host: requests } = setup;
    let environment = environments.of(&request, cookie);
    let mut placeholders = Placeholders::default();
    let mut limits = CommandLimits::default();
    let reports = &spare.reports;
    let mut inits = InitSource { prepared: init, reports, environments, cookie, unfit: Vec::new() };
    let first = match plan {
        None => {
            let free = Restrictions::default();
            FirstProcess::start_plainly(&request, &streams, &environment, &free)
        }
        Some(plan) => start_first_process(
            (&message, &request),
            &streams,
            (plan, proxy_link),
            &environment,
            &mut inits,
            &mut placeholders,
            &mut limits,
        ),
    };
    drop(streams);
    let is_in_namespaces = matches!(first, Ok(FirstProcess::Init(_)));
    let news =
        if is_in_namespaces { KeeperNews::HasSandboxedCommand } else { KeeperNews::HasCommand };
    news.send(&spare.take);
    inits.discard();
    // Processes outside namespaces can reach this process, so it must not take another command.
    if !is_in_namespaces {
        *requests = None;
    }
    let mut overseer = match first {
        Ok(first) => Overseer::of(&request, first, output),
        Err(failure) => {
            drop(placeholders);
            send(&mut host, &KeeperMessage::Ended(failure.report()));
            return None;
        }
    };
    let ended = match overseer.watch(&mut host, exits, (&spare.supervisor, requests)) {
        Ok(()) => overseer.ended(&limits),
        Err(error) => StartFailure::Shell(error).report(),
    };
    if spare.shared.hands_over_placeholders() {
        placeholders.hand_over(&spare.handover);
    }
    drop(placeholders);
    let _ = host.set_nonblocking(false);
    // Fails only if the host is gone.
    send(&mut host, &KeeperMessage::Ended(ended));
    drop(host);
    overseer.leave()
}

struct Overseer<'a> {
    request: &'a CommandRequest,
    /// `None` after PID 1 of a sandbox was reaped.
    first_process: Option<FirstProcess>,
    /// The inode number of the output pipe.
    output: u64,
    status: Option<ShellEnd>,
    phase: Phase,
    stopped: usize,
    /// How many processes there were when they were stopped.
    most_processes: usize,
    held_output: bool,
}

impl<'a> Overseer<'a> {
    const fn of(request: &'a CommandRequest, first_process: FirstProcess, output: u64) -> Self {
        Self {
            request,
            first_process: Some(first_process),
            output,
            status: None,
            phase: Phase::Running,
            stopped: 0,
            most_processes: 0,
            held_output: false,
        }
    }

    /// Watches the command until all its processes have ended or cannot be ended. Closes the socket
    /// with further requests once the supervisor is gone.
    fn watch(
        &mut self,
        host: &mut UnixStream,
        exits: &OwnedFd,
        (supervisor, requests): (&OwnedFd, &mut Option<OwnedFd>),
    ) -> io::Result<()> {
        host.set_nonblocking(true)?;
        let mut host_listens = true;
        loop {
            if self.reap() {
                return Ok(());
            }
            let timeout = match self.advance() {
                WaitTime::Endless => None,
                WaitTime::For(duration) => timespec(duration),
                WaitTime::None => return Ok(()),
            };
            let listened = host_listens.then_some(&*host);
            let watched = requests.is_some().then_some(supervisor);
            let [exited, asked, abandoned] = self.wait(exits, listened, watched, timeout)?;
            if abandoned {
                *requests = None;
            }
            if exited {
                // This only wakes the loop: the exits of several children may arrive as one.
                let mut news = [0; 128];
                let _ = rustix::io::read(exits, &mut news);
            }
            if host_listens && asked {
                let mut grace = [0; STOP_BYTES];
                match host.read(&mut grace) {
                    Ok(STOP_BYTES) => self.stop(u32::from_le_bytes(grace)),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Ok(_) | Err(_) => {
                        host_listens = false;
                        self.stop(self.request.grace_ms.min(ORPHANED_GRACE_MS));
                    }
                }
            }
        }
    }

    /// Waits for an exit, a message from the host or the end of the supervisor, and returns which
    /// of them happened. A message from PID 1 only ends the wait.
    fn wait(
        &self,
        exits: &OwnedFd,
        host: Option<&UnixStream>,
        supervisor: Option<&OwnedFd>,
        timeout: Option<Timespec>,
    ) -> io::Result<[bool; 3]> {
        let link = match &self.first_process {
            Some(FirstProcess::Init(init)) if init.is_open => Some(&init.process.link),
            _ => None,
        };
        // A closed connection stays readable and would make `poll` return at once, so it is not
        // polled.
        let mut ready = [
            PollFd::new(exits, PollFlags::IN),
            host.map_or_else(
                || PollFd::new(exits, PollFlags::empty()),
                |it| PollFd::new(it, PollFlags::IN),
            ),
            PollFd::new(supervisor.unwrap_or(exits), PollFlags::empty()),
            PollFd::new(link.unwrap_or(exits), PollFlags::IN),
        ];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [exited, asked, abandoned, _] = ready.map(|it| !it.revents().is_empty());
        Ok([exited, asked && host.is_some(), abandoned && supervisor.is_some()])
    }

    /// Reaps every child that has exited. Returns true when no process of the command is left.
    fn reap(&mut self) -> bool {
        match self.first_process {
            Some(FirstProcess::Shell(shell)) => self.reap_shell(shell),
            Some(FirstProcess::Init(_)) => self.reap_init(),
            None => true,
        }
    }

    fn reap_shell(&mut self, shell: Pid) -> bool {
        let cwd = if self.status.is_none() { last_directory(self.request, shell) } else { None };
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == shell && (status.exited() || status.signaled()) {
                        self.status = Some(ShellEnd::of(status, cwd.clone()));
                    }
                }
                Ok(None) => return false,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Reaps PID 1 of a sandbox and receives its messages. When PID 1 has ended, all others have
    /// too.
    fn reap_init(&mut self) -> bool {
        let Some(FirstProcess::Init(init)) = &mut self.first_process else { return true };
        let reaped = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let is_over = status.exited() || status.signaled();
                    if pid == init.process.pid && is_over {
                        break Some(status);
                    }
                }
                Ok(None) => break None,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        };
        let mut are_all_gone = reaped.is_some();
        while init.is_open {
            match InitMessage::receive_now(&init.process.link) {
                Ok(Some(InitMessage::ShellEnded(end))) => self.status = Some(end),
                Ok(Some(InitMessage::AllGone)) => are_all_gone = true,
                Ok(Some(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Ok(None) | Err(_) => init.is_open = false,
            }
        }
        if let Some(status) = reaped {
            self.first_process = None;
            // A process outside killed PID 1, and the shell with it.
            self.status.get_or_insert_with(|| ShellEnd::of(status, None));
        }
        are_all_gone
    }

    /// All processes of the command.
    fn processes(&self) -> Vec<ProcessIdentity> {
        let mut found = descendants();
        if let Some(FirstProcess::Init(init)) = &self.first_process {
            let own = init.process.pid.as_raw_nonzero().get();
            found.retain(|it| it.pid != own);
        }
        found
    }

    fn signal_all(&self, which: Signal) -> usize {
        let found = self.processes();
        for process in &found {
            signal(*process, which);
        }
        found.len()
    }

    /// Kills all known processes of the command.
    fn kill(&self) {
        match &self.first_process {
            // When PID 1 ends, the kernel kills all others.
            Some(FirstProcess::Init(init)) => {
                let _ = rustix::process::kill_process(init.process.pid, Signal::KILL);
            }
            Some(FirstProcess::Shell(_)) | None => kill_all(),
        }
    }

    /// Returns PID 1 of a sandbox for another command, if this command was not stopped. Otherwise
    /// waits for PID 1 to end, because unmounting takes a moment.
    fn leave(self) -> Option<PreparedInit> {
        let Some(FirstProcess::Init(init)) = self.first_process else { return None };
        let StartedInit { process, is_open } = init;
        let was_not_stopped = matches!(self.phase, Phase::Running | Phase::Lingering(_));
        if was_not_stopped && is_open && process.plan.is_some() && process.uses < MAX_USES {
            return Some(process);
        }
        if !matches!(self.phase, Phase::Killing(_)) {
            process.discard();
        }
        None
    }

    /// Enters the next phase if it is due. Returns how long to wait for the next event.
    fn advance(&mut self) -> WaitTime {
        let now = Instant::now();
        match self.phase {
            Phase::Running if self.status.is_some() => {
                self.phase = Phase::Lingering(now + milliseconds(self.request.linger_ms));
            }
            Phase::Lingering(until) if now >= until => {
                self.held_output = self.request.kind != RequestKind::Command
                    && self.processes().into_iter().any(|it| writes_to(it.pid, self.output));
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
                self.kill();
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

    /// Sends SIGTERM to all processes of the command. Returns how many there were.
    fn terminate(&mut self, grace_ms: u32) -> usize {
        self.phase = Phase::Terminating(Instant::now() + milliseconds(grace_ms));
        let count = self.signal_all(Signal::TERM);
        self.most_processes = self.most_processes.max(count);
        // A stopped process does not handle SIGTERM until it is resumed.
        self.signal_all(Signal::CONT);
        count
    }

    fn ended(&mut self, limits: &CommandLimits) -> EndReport {
        let end = self.status.take().unwrap_or_default();
        let limit_hit = limits.hit(end.exit_code, end.signal, self.most_processes);
        EndReport {
            exit_code: end.exit_code,
            signal: end.signal,
            limit_hit: end.limit_hit.or(limit_hit),
            stopped: count(self.stopped),
            survivors: if matches!(self.phase, Phase::Killing(_)) && self.first_process.is_some() {
                count(descendants().len())
            } else {
                0
            },
            held_output: self.held_output,
            cwd: end.cwd,
            ..EndReport::default()
        }
    }
}

impl ShellEnd {
    /// The end of a shell that was reaped with this status.
    pub(crate) fn of(status: WaitStatus, cwd: Option<Vec<u8>>) -> Self {
        Self {
            exit_code: status.exit_status(),
            signal: status.terminating_signal(),
            cwd,
            limit_hit: None,
        }
    }
}

/// True if a process has the pipe with this inode number open.
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
    // Rounded up: after waking too early the loop would poll without pause.
    Timespec::try_from(duration + Duration::from_micros(100)).ok()
}
