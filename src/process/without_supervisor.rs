//! Commands without a supervisor: children of this process, in a group of their own.
//!
//! The group is what can be found and ended. A process that leaves its group and its session is found on
//! Linux by a cookie in its environment, and elsewhere not at all; a host that is killed leaves its
//! commands behind. Whoever gets the answer is told that nothing was contained.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, net::UnixStream, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{
    launcher::CommandStreams,
    protocol::{COOKIE, CommandRequest, EndReport, KeeperMessage, RequestKind, STOP_BYTES},
    settings::ProcessSettings,
};
use crate::regular_file;

/// How often to look whether the shell has ended: without a supervisor nobody tells.
const PACE: Duration = Duration::from_millis(10);
/// How long killed processes may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// More than the longest path that systems take.
const MAX_TOLD_BYTES: u64 = 64 * 1024;

/// A command that tells where it ended up, however it ends: by its last line, `exit`, an error or TERM.
struct CommandWithExitTrap {
    /// What the shell runs.
    script: Vec<u8>,
    /// The script's first argument, which it takes away before the command runs.
    trap: String,
}

/// Makes a command tell, by a trap on its exit. This is seen where the first line has a syntax error, with
/// `set -v` and by `trap`; with a supervisor, nothing of ours is in what a shell runs.
///
/// What it tells goes to a file and not to an inherited descriptor, whose number the command might use
/// for something of its own. What makes it tell stands on the command's first line, so that the line
/// numbers in the shell's messages are those of the command.
///
/// The trap leaves no mark on the exit code, whatever options and traps the command has set. Only the shell
/// itself tells: one that it forked and that is killed at once still has the trap.
fn telling_cwd(command: &[u8], file: &str) -> CommandWithExitTrap {
    let script = [b"trap \"$1\" EXIT;shift;", command].concat();
    let trap = format!(
        "{{ set +ex; trap - DEBUG; [ \"${{BASHPID:-$$}}\" = $$ ] && command pwd -P >\"{file}\"; }} \
         >/dev/null 2>&1"
    );
    CommandWithExitTrap { script, trap }
}

/// Starts a command and a thread that sees it to its end.
pub(super) fn start(
    request: CommandRequest,
    streams: CommandStreams,
    line: UnixStream,
    settings: &ProcessSettings,
    files: &Path,
) -> io::Result<()> {
    let moment = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |it| it.as_nanos());
    let cookie = format!("{}-{moment:x}", std::process::id());
    // Beside the directory of output files, which may not exist yet.
    let told = PathBuf::from(format!("{}.cwd-{moment:x}", files.display()));
    let CommandWithExitTrap { script, trap } =
        telling_cwd(&request.command, &told.to_string_lossy());
    let name = Path::new(OsStr::from_bytes(&request.shell)).file_name().unwrap_or(OsStr::new("sh"));
    let environment = match request.kind {
        RequestKind::Command => &settings.environment,
        RequestKind::Helper => &settings.helper_environment,
    };
    let errors = streams.errors.map_or_else(|| streams.output.try_clone(), Ok)?;
    let mut command = Command::new(OsStr::from_bytes(&request.shell));
    command
        .arg0(name)
        .arg("-c")
        .arg(OsStr::from_bytes(&script))
        .arg(name)
        .arg(trap)
        .current_dir(OsStr::from_bytes(&request.cwd))
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env(COOKIE, &cookie)
        .stdin(streams.input.map_or_else(Stdio::null, Stdio::from))
        .stderr(errors)
        .stdout(streams.output)
        .process_group(0);
    usual_signals(&mut command);
    let child = command.spawn()?;
    let shell = Pid::from_child(&child);
    let command = DirectCommand { request, shell, cookie, told, line };
    thread::Builder::new()
        .name("toolwright-command".to_owned())
        .stack_size(256 * 1024)
        .spawn(move || command.oversee())
        .map(|_| ())
}

/// Has a command find every signal as it usually is: what the host ignores or holds back is no business
/// of its commands, and a shell cannot undo it.
#[expect(unsafe_code, reason = "between fork and exec there is no safe interface")]
fn usual_signals(command: &mut Command) {
    // SAFETY: the closure makes system calls alone, all of which may be made there, and takes no lock.
    unsafe {
        command.pre_exec(|| {
            for signal in 1..=64 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none = std::mem::MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            Ok(())
        });
    }
}

struct DirectCommand {
    request: CommandRequest,
    shell: Pid,
    cookie: String,
    told: PathBuf,
    line: UnixStream,
}

impl DirectCommand {
    fn oversee(mut self) {
        let mut ended = EndReport::default();
        let mut stop: Option<Duration> = None;
        let _ = self.line.set_read_timeout(Some(PACE));
        // The shell is not reaped before its group is gone: until then its id, which is the group's, is
        // nobody else's.
        while !self.shell_has_ended() && stop.is_none() {
            stop = self.asked_to_stop();
        }
        if let Some(grace) = stop {
            self.signal(Signal::TERM);
            self.wait_until(Instant::now() + grace);
        } else if self.others() > 0 {
            self.wait_until(Instant::now() + milliseconds(self.request.linger_ms));
            ended.stopped = u32::try_from(self.others()).unwrap_or(u32::MAX);
            // Who holds the output is not looked for here.
            ended.held_output = ended.stopped > 0;
            self.signal(Signal::TERM);
            self.wait_until(Instant::now() + milliseconds(self.request.grace_ms));
        }
        self.signal(Signal::KILL);
        self.wait_until(Instant::now() + KILL_PATIENCE);
        ended.survivors = u32::try_from(self.others()).unwrap_or(u32::MAX);
        if let Ok(Some(status)) = waitid(WaitId::Pid(self.shell), WaitIdOptions::EXITED) {
            ended.exit_code = status.exit_status();
            ended.signal = status.terminating_signal();
        }
        ended.cwd = self.told_place();
        let _ = fs::remove_file(&self.told);
        let _ = self.line.write_all(&KeeperMessage::Ended(ended).encode());
    }

    /// The directory that the command told of at its end. It may have put anything in the file's place.
    fn told_place(&self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        regular_file::open(&self.told).ok()?.take(MAX_TOLD_BYTES).read_to_end(&mut line).ok()?;
        line.strip_suffix(b"\n").map(<[u8]>::to_vec)
    }

    fn shell_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.shell), options), Ok(None))
    }

    /// The grace, once somebody asks for the end or has gone; waits a little for it.
    fn asked_to_stop(&mut self) -> Option<Duration> {
        let mut grace = [0; STOP_BYTES];
        match self.line.read(&mut grace) {
            Ok(STOP_BYTES) => Some(milliseconds(u32::from_le_bytes(grace))),
            Err(error) if is_no_answer(&error) => None,
            Ok(_) | Err(_) => Some(milliseconds(self.request.grace_ms)),
        }
    }

    fn wait_until(&self, moment: Instant) {
        while Instant::now() < moment && !(self.shell_has_ended() && self.others() == 0) {
            thread::sleep(PACE);
        }
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.shell, signal);
        #[cfg(target_os = "linux")]
        for pid in self.by_cookie() {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // Looked at again: between the look and the handle the id may have become another's.
            if self.carries_cookie(pid) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
    }

    /// How many processes but the shell are known to be left.
    fn others(&self) -> usize {
        self.by_cookie().len()
    }

    /// Processes that carry the cookie: also those that left the group.
    #[cfg(target_os = "linux")]
    fn by_cookie(&self) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
            .filter(|pid| *pid != self.shell && self.carries_cookie(*pid))
            .collect()
    }

    #[cfg(target_os = "linux")]
    fn carries_cookie(&self, pid: Pid) -> bool {
        let cookie = format!("{COOKIE}={}", self.cookie);
        fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
            .is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == cookie.as_bytes()))
    }

    /// Other systems show nobody's environment: the group is all there is, and it is signalled whole.
    #[cfg(not(target_os = "linux"))]
    fn by_cookie(&self) -> Vec<Pid> {
        let _ = &self.cookie;
        Vec::new()
    }
}

fn is_no_answer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn milliseconds(number: u32) -> Duration {
    Duration::from_millis(u64::from(number))
}
