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

use crate::{
    command_root::{CommandRoot, InitSource, StartFailure, StartedInit, start_root},
    descendants::{descendants, kill_all, signal},
    environments::Environments,
    keeper_news::KeeperNews,
    protocol::{
        CommandRequest, EndReport, KeeperMessage, ProcessIdentity, RequestKind, STOP_BYTES,
    },
    sandbox::{
        Restrictions,
        foreseen_plan::PlanReports,
        init_link::{InitMessage, ShellEnd},
        limits::HeldLimits,
        namespaces::PreparedInit,
        placeholders::Placeholders,
    },
    shared_notes::SharedNotes,
    shell_start::{ShellStreams, last_directory},
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
    /// The request as it came, for whoever else needs it.
    pub(crate) message: Vec<u8>,
    pub(crate) request: CommandRequest,
    pub(crate) streams: ShellStreams,
    /// The file with the plan of its sandbox, if it has one.
    pub(crate) plan: Option<OwnedFd>,
    /// The socket for its proxy, if it has one.
    pub(crate) door: Option<OwnedFd>,
    pub(crate) connection: UnixStream,
}

/// What a spare knows from the supervisor about the commands before its own.
pub(crate) struct SpareKnowledge {
    /// True when they had a sandbox in namespaces.
    pub(crate) prepares: bool,
    /// The plan that they had.
    pub(crate) reports: PlanReports,
    /// Where placeholders are handed over to, while they are wanted.
    pub(crate) handover: OwnedFd,
    pub(crate) shared: &'static SharedNotes,
    /// Readable once the supervisor is gone.
    pub(crate) supervisor: OwnedFd,
    /// Through this the supervisor learns that a spare was used.
    pub(crate) take: OwnedFd,
}

/// What a keeper has prepared before its command came.
pub(crate) struct KeeperSetup<'a> {
    pub(crate) exits: OwnedFd,
    pub(crate) environments: &'a Environments,
    pub(crate) cookie: CString,
    pub(crate) spare: SpareKnowledge,
    /// The socket with the requests of the host; none once this process takes no more. If the supervisor is gone, only
    /// waiting spares keep it open, so that the host notices when there are none left.
    pub(crate) host: Option<OwnedFd>,
}

/// How many commands one sandbox has at most. What nobody has thought of does not add up for ever.
const MAX_USES: u32 = 256;

/// Sends a message to the host; false when the host is gone.
pub(crate) fn send(connection: &mut UnixStream, message: &KeeperMessage) -> bool {
    connection.write_all(&message.encode()).is_ok()
}

/// Runs a command until all its processes have ended, and reports that to the host. The supervisor learns that
/// this spare was used only once the command runs: creating a new spare can wait. Returns process 1 of a sandbox that
/// another command can have.
pub(crate) fn oversee(
    accepted: AcceptedCommand,
    setup: &mut KeeperSetup<'_>,
    init: Option<PreparedInit>,
) -> Option<PreparedInit> {
    let output = rustix::fs::fstat(&accepted.streams.output).map_or(0, |it| it.st_ino);
    let AcceptedCommand { message, request, streams, plan, door, connection: mut host } = accepted;
    let KeeperSetup { exits, environments, cookie, spare, host: requests } = setup;
    let environment = environments.of(&request, cookie);
    let mut placeholders = Placeholders::default();
    let mut held = HeldLimits::default();
    let reports = &spare.reports;
    let mut inits = InitSource { prepared: init, reports, environments, cookie, unfit: Vec::new() };
    let root = match plan {
        None => {
            let free = Restrictions::default();
            CommandRoot::start_plainly(&request, &streams, &environment, &free)
        }
        Some(plan) => start_root(
            (&message, &request),
            &streams,
            (plan, door),
            &environment,
            &mut inits,
            &mut placeholders,
            &mut held,
        ),
    };
    drop(streams);
    let is_in_namespaces = matches!(root, Ok(CommandRoot::Init(_)));
    let news =
        if is_in_namespaces { KeeperNews::HasSandboxedCommand } else { KeeperNews::HasCommand };
    news.tell(&spare.take);
    inits.discard();
    // Others can reach this process, and no command after them must have it.
    if !is_in_namespaces {
        *requests = None;
    }
    let mut overseer = match root {
        Ok(root) => Overseer::of(&request, root, output),
        Err(failure) => {
            drop(placeholders);
            send(&mut host, &KeeperMessage::Ended(failure.report()));
            return None;
        }
    };
    let ended = match overseer.watch(&mut host, exits, (&spare.supervisor, requests)) {
        Ok(()) => overseer.ended(&held),
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
    /// None once it was reaped, if it is process 1 of a sandbox.
    root: Option<CommandRoot>,
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
    const fn of(request: &'a CommandRequest, root: CommandRoot, output: u64) -> Self {
        Self {
            request,
            root: Some(root),
            output,
            status: None,
            phase: Phase::Running,
            stopped: 0,
            most_processes: 0,
            held_output: false,
        }
    }

    /// Watches over the command until all its processes have ended, or cannot be ended. Gives up the socket with
    /// further requests once the supervisor is gone.
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
                // Only a reason to reap: the exits of several children may be reported as one.
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

    /// Waits for an exit, a message of the host or the end of the supervisor, and says which came. A message of process
    /// 1 only ends it.
    fn wait(
        &self,
        exits: &OwnedFd,
        host: Option<&UnixStream>,
        supervisor: Option<&OwnedFd>,
        timeout: Option<Timespec>,
    ) -> io::Result<[bool; 3]> {
        let link = match &self.root {
            Some(CommandRoot::Init(init)) if init.is_open => Some(&init.process.link),
            _ => None,
        };
        // A closed connection stays readable, and would make `poll` return at once. Without one it waits for less.
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

    /// Reaps every child that has exited; true when no process of the command is left.
    fn reap(&mut self) -> bool {
        match self.root {
            Some(CommandRoot::Shell(shell)) => self.reap_shell(shell),
            Some(CommandRoot::Init(_)) => self.reap_init(),
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

    /// Reaps process 1 of a sandbox and hears what it says. Once it was reaped, all others are gone as well.
    fn reap_init(&mut self) -> bool {
        let Some(CommandRoot::Init(init)) = &mut self.root else { return true };
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
            self.root = None;
            // Somebody outside has killed it, and the shell with it.
            self.status.get_or_insert_with(|| ShellEnd::of(status, None));
        }
        are_all_gone
    }

    /// All processes of the command.
    fn processes(&self) -> Vec<ProcessIdentity> {
        let mut found = descendants();
        if let Some(CommandRoot::Init(init)) = &self.root {
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

    /// Kills all processes of the command, as far as they are known.
    fn kill(&self) {
        match &self.root {
            // The kernel kills all others.
            Some(CommandRoot::Init(init)) => {
                let _ = rustix::process::kill_process(init.process.pid, Signal::KILL);
            }
            Some(CommandRoot::Shell(_)) | None => kill_all(),
        }
    }

    /// Keeps process 1 of a sandbox for another command if this one has ended by itself. Otherwise waits for it to end:
    /// its mounts take a moment.
    fn leave(self) -> Option<PreparedInit> {
        let Some(CommandRoot::Init(init)) = self.root else { return None };
        let StartedInit { process, is_open } = init;
        let by_itself = matches!(self.phase, Phase::Running | Phase::Lingering(_));
        if by_itself && is_open && process.plan.is_some() && process.uses < MAX_USES {
            return Some(process);
        }
        if !matches!(self.phase, Phase::Killing(_)) {
            process.discard();
        }
        None
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

    /// Sends SIGTERM to all processes of the command; returns how many there were.
    fn terminate(&mut self, grace_ms: u32) -> usize {
        self.phase = Phase::Terminating(Instant::now() + milliseconds(grace_ms));
        let count = self.signal_all(Signal::TERM);
        self.most_processes = self.most_processes.max(count);
        // A stopped process does not handle SIGTERM until it is resumed.
        self.signal_all(Signal::CONT);
        count
    }

    fn ended(&mut self, held: &HeldLimits) -> EndReport {
        let end = self.status.take().unwrap_or_default();
        let limit_hit = held.hit(end.exit_code, end.signal, self.most_processes);
        EndReport {
            exit_code: end.exit_code,
            signal: end.signal,
            limit_hit: end.limit_hit.or(limit_hit),
            stopped: count(self.stopped),
            survivors: if matches!(self.phase, Phase::Killing(_)) && self.root.is_some() {
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
    /// How a shell ended that was reaped with this status.
    pub(crate) fn of(status: WaitStatus, cwd: Option<Vec<u8>>) -> Self {
        Self {
            exit_code: status.exit_status(),
            signal: status.terminating_signal(),
            cwd,
            limit_hit: None,
        }
    }
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
