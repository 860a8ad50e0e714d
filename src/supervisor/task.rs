//! One command and everything it ever started: runs it, and sees to it that all of it ends.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read as _, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, net::UnixStream, process::CommandExt as _},
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, WaitOptions, WaitStatus, wait},
};

use crate::{
    descendants::{descendants, kill_all, signal_all},
    protocol::{Ended, MAX_CWD_BYTES, Request, STOP_BYTES, Telling, telling_cwd},
    sys,
};

/// How long killed processes may take to be gone: one in the kernel's hands may have to wait for a disk.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// The most that processes get when the host is gone: nobody needs what they might still do.
const ORPHANED_GRACE_MS: u32 = 1_000;
/// How long to wait before looking again for processes to kill.
const KILL_PACE: Duration = Duration::from_millis(5);

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
enum Patience {
    /// Until it does.
    Endless,
    /// At most so long.
    For(Duration),
    /// There is nothing more to be done.
    None,
}

/// A command to run, where its output goes, and its own line to the host.
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) output: OwnedFd,
    pub(crate) line: UnixStream,
}

/// Runs a command to the end of all its processes and tells the host about it. The supervisor is told
/// once the command runs: the next spare has time until then.
pub(crate) fn oversee(asked: Asked, take: OwnedFd) {
    let Asked { request, output, line: mut host } = asked;
    let ended = run(&request, output, &mut host, take).unwrap_or_else(|error| Ended {
        spawn_error: Some(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())),
        ..Ended::default()
    });
    // A host that is gone needs no answer.
    let _ = host.write_all(&ended.encode());
}

fn run(
    request: &Request,
    output: OwnedFd,
    host: &mut UnixStream,
    take: OwnedFd,
) -> std::io::Result<Ended> {
    // Away from the host's terminal: nothing beneath can ask a person for a password, or be stopped by
    // the keys that stop the host.
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let exits = sys::child_exits()?;
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let shell = start(request, output, &tell);
    let _ = rustix::io::write(&take, &std::process::id().to_le_bytes());
    drop(take);
    let shell = shell?;
    // Only now, or the command would do the same. Whoever has ended before is found by the first look.
    sys::hold_child_exits();
    host.set_nonblocking(true)?;
    let mut overseer = Overseer { request, shell, status: None, phase: Phase::Running, stopped: 0 };
    let mut host_listens = true;
    loop {
        if overseer.reap() {
            break;
        }
        let patience = match overseer.advance() {
            Patience::Endless => None,
            Patience::For(duration) => timespec(duration),
            Patience::None => break,
        };
        let mut ready = [PollFd::new(&exits, PollFlags::IN), PollFd::new(host, PollFlags::IN)];
        // A host that has gone stays readable; it has said all it can.
        let watched = if host_listens { ready.as_mut_slice() } else { ready.split_at_mut(1).0 };
        match poll(watched, patience.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [exited, asked] = ready.map(|it| !it.revents().is_empty());
        if exited {
            // Only says that it is time to reap; several exits may come as one.
            let mut news = [0; 128];
            let _ = rustix::io::read(&exits, &mut news);
        }
        if host_listens && asked {
            let mut grace = [0; STOP_BYTES];
            match host.read(&mut grace) {
                Ok(STOP_BYTES) => overseer.stop(u32::from_le_bytes(grace)),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => {
                    host_listens = false;
                    overseer.stop(request.grace_ms.min(ORPHANED_GRACE_MS));
                }
            }
        }
    }
    drop(tell);
    Ok(overseer.ended(told))
}

fn start(request: &Request, output: OwnedFd, tell: &OwnedFd) -> std::io::Result<Pid> {
    let file = format!("/proc/{}/fd/{}", std::process::id(), tell.as_raw_fd());
    let Telling { script, trap } = telling_cwd(&request.command, &file);
    // What the shell puts before its messages.
    let name =
        request.shell.rsplit(|it| *it == b'/').next().map_or(OsStr::new("sh"), OsStr::from_bytes);
    let child = Command::new(OsStr::from_bytes(&request.shell))
        .arg0(name)
        .arg("-c")
        .arg(OsStr::from_bytes(&script))
        .arg(name)
        .arg(trap)
        .current_dir(OsStr::from_bytes(&request.cwd))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| Errno::SRCH.into())
}

struct Overseer<'a> {
    request: &'a Request,
    shell: Pid,
    status: Option<WaitStatus>,
    phase: Phase,
    stopped: usize,
}

impl Overseer<'_> {
    /// Takes note of every child that has ended; true when there is none left.
    fn reap(&mut self) -> bool {
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

    /// Goes on to the next phase when it is time; gives how long to wait for something to happen.
    fn advance(&mut self) -> Patience {
        let now = Instant::now();
        match self.phase {
            Phase::Running if self.status.is_some() => {
                self.phase = Phase::Lingering(now + milliseconds(self.request.linger_ms));
            }
            Phase::Lingering(until) if now >= until => {
                self.stopped = self.terminate(self.request.grace_ms);
            }
            Phase::Terminating(until) if now >= until => {
                self.phase = Phase::Killing(now + KILL_PATIENCE);
            }
            Phase::Running | Phase::Lingering(_) | Phase::Terminating(_) | Phase::Killing(_) => {}
        }
        match self.phase {
            Phase::Running => Patience::Endless,
            Phase::Lingering(until) | Phase::Terminating(until) => {
                Patience::For(until.saturating_duration_since(now))
            }
            Phase::Killing(until) if now >= until => Patience::None,
            Phase::Killing(_) => {
                kill_all();
                Patience::For(KILL_PACE)
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

    fn ended(&self, told: OwnedFd) -> Ended {
        Ended {
            exit_code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            spawn_error: None,
            stopped: count(self.stopped),
            survivors: if matches!(self.phase, Phase::Killing(_)) {
                count(descendants().len())
            } else {
                0
            },
            cwd: told_cwd(told),
        }
    }
}

/// The working directory that the shell told, if it did.
fn told_cwd(told: OwnedFd) -> Option<Vec<u8>> {
    let mut line = vec![0; MAX_CWD_BYTES + 1];
    let length = File::from(told).read(&mut line).ok()?;
    line.truncate(length);
    (line.pop() == Some(b'\n') && line.first() == Some(&b'/')).then_some(line)
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
