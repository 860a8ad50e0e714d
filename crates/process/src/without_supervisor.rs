//! Runs commands without a supervisor: as children of this process, each in its own process group.
//!
//! Ending a command means ending its group. On Linux a process that left the group is found by a
//! cookie in its environment. On other systems it is not found. A host that is killed leaves its
//! commands running. So these commands are reported as not contained.

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
use toolwright_base::regular_file;
use toolwright_command_protocol::{
    COOKIE, CommandRequest, EndReport, KeeperMessage, RequestKind, STOP_BYTES, shell_arguments,
};

use super::{launcher::CommandStreams, settings::ProcessSettings};

/// The interval at which to check whether the shell has exited.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How long to wait for killed processes to be gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// More than the longest path that any system accepts.
const MAX_REPORT_BYTES: u64 = 64 * 1024;

/// A command with an EXIT trap that reports the working directory. The trap runs however the
/// command ends: by its last line, `exit`, an error or SIGTERM.
struct CommandWithExitTrap {
    /// The command, with the line that sets the trap before it.
    script: Vec<u8>,
    /// The trap. It is the script's first argument, which the script removes before the command runs.
    trap: String,
}

/// Adds the trap to a command. The trap is visible in the message about a syntax error in the first
/// line, with `set -v`, and in the output of `trap`. With a supervisor no trap is needed.
///
/// The directory is written to a file and not to an inherited descriptor, because the command might
/// use the number of that descriptor itself. The trap is set on the first line of the command, so
/// that the line numbers in the shell's messages stay those of the command.
///
/// The trap does not change the exit code, whatever options and traps the command sets. Only the
/// shell itself reports: a subshell that is killed right after its start still has the trap.
fn with_exit_trap(command: &[u8], file: &str) -> CommandWithExitTrap {
    let script = [b"trap \"$1\" EXIT;shift;", command].concat();
    let trap = format!(
        "{{ set +ex; trap - DEBUG; [ \"${{BASHPID:-$$}}\" = $$ ] && command pwd -P >\"{file}\"; }} \
         >/dev/null 2>&1"
    );
    CommandWithExitTrap { script, trap }
}

/// Starts a command, and a thread that waits for its end and reports it.
pub(super) fn start(
    request: CommandRequest,
    streams: CommandStreams,
    connection: UnixStream,
    settings: &ProcessSettings,
    files: &Path,
) -> io::Result<()> {
    let moment = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |it| it.as_nanos());
    let cookie = format!("{}-{moment:x}", std::process::id());
    // Next to the directory of output files, which may not exist yet.
    let report_file = PathBuf::from(format!("{}.cwd-{moment:x}", files.display()));
    let CommandWithExitTrap { script, trap } =
        with_exit_trap(&request.command, &report_file.to_string_lossy());
    let [name, arguments @ ..] = shell_arguments(&request.shell, &script).map(OsStr::from_bytes);
    let environment = match request.kind {
        RequestKind::Command | RequestKind::Server => &settings.environment,
        RequestKind::Helper => &settings.helper_environment,
    };
    let own = request.variables.iter().filter_map(|it| {
        let end = it.iter().position(|byte| *byte == b'=')?;
        let (name, value) = it.split_at_checked(end)?;
        Some((OsStr::from_bytes(name), OsStr::from_bytes(value.get(1..)?)))
    });
    let errors = streams.errors.map_or_else(|| streams.output.try_clone(), Ok)?;
    let mut command = Command::new(OsStr::from_bytes(&request.shell));
    command
        .arg0(name)
        .args(arguments)
        .arg(trap)
        .args(request.parameters.iter().map(|it| OsStr::from_bytes(it)))
        .current_dir(OsStr::from_bytes(&request.cwd))
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .envs(own)
        .env(COOKIE, &cookie)
        .stdin(streams.input.map_or_else(Stdio::null, Stdio::from))
        .stderr(errors)
        .stdout(streams.output)
        .process_group(0);
    reset_signals(&mut command);
    let child = command.spawn()?;
    let shell = Pid::from_child(&child);
    let command = DirectCommand { request, shell, cookie, report_file, connection };
    thread::Builder::new()
        .name("toolwright-command".to_owned())
        .stack_size(256 * 1024)
        .spawn(move || command.oversee())
        .map(|_| ())
}

/// Resets all signals for a command. It would inherit the signals that the host ignores or blocks,
/// and a shell cannot undo that.
#[expect(unsafe_code, reason = "between fork and exec there is no safe interface")]
fn reset_signals(command: &mut Command) {
    // SAFETY: the closure only makes async-signal-safe calls and takes no lock.
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
    report_file: PathBuf,
    connection: UnixStream,
}

impl DirectCommand {
    fn oversee(mut self) {
        let mut ended = EndReport::default();
        let mut stop: Option<Duration> = None;
        let _ = self.connection.set_read_timeout(Some(CHECK_INTERVAL));
        // The shell is not reaped before its group is gone. Until then its id, which is also the id of the
        // group, cannot be used by another process.
        while !self.shell_has_ended() && stop.is_none() {
            stop = self.asked_to_stop();
        }
        if let Some(grace) = stop {
            self.signal(Signal::TERM);
            self.wait_until(Instant::now() + grace);
        } else if self.others() > 0 {
            self.wait_until(Instant::now() + milliseconds(self.request.linger_ms));
            ended.stopped = u32::try_from(self.others()).unwrap_or(u32::MAX);
            // Which processes have the output open is not checked here.
            ended.held_output = ended.stopped > 0;
            self.signal(Signal::TERM);
            self.wait_until(Instant::now() + milliseconds(self.request.grace_ms));
        }
        self.signal(Signal::KILL);
        self.wait_until(Instant::now() + KILL_TIMEOUT);
        ended.survivors = u32::try_from(self.others()).unwrap_or(u32::MAX);
        if let Ok(Some(status)) = waitid(WaitId::Pid(self.shell), WaitIdOptions::EXITED) {
            ended.exit_code = status.exit_status();
            ended.signal = status.terminating_signal();
        }
        ended.cwd = self.reported_directory();
        let _ = fs::remove_file(&self.report_file);
        let _ = self.connection.write_all(&KeeperMessage::Ended(ended).encode());
    }

    /// The working directory that the trap has written. The command may have replaced the file, so
    /// only a regular file is opened.
    fn reported_directory(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        regular_file::open(&self.report_file)
            .ok()?
            .take(MAX_REPORT_BYTES)
            .read_to_end(&mut text)
            .ok()?;
        text.strip_suffix(b"\n").map(<[u8]>::to_vec)
    }

    fn shell_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.shell), options), Ok(None))
    }

    /// Waits a little for a request to stop. Returns its grace period. A closed connection counts
    /// as such a request.
    fn asked_to_stop(&mut self) -> Option<Duration> {
        let mut grace = [0; STOP_BYTES];
        match self.connection.read(&mut grace) {
            Ok(STOP_BYTES) => Some(milliseconds(u32::from_le_bytes(grace))),
            Err(error) if is_no_answer(&error) => None,
            Ok(_) | Err(_) => Some(milliseconds(self.request.grace_ms)),
        }
    }

    fn wait_until(&self, moment: Instant) {
        while Instant::now() < moment && !(self.shell_has_ended() && self.others() == 0) {
            thread::sleep(CHECK_INTERVAL);
        }
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.shell, signal);
        #[cfg(target_os = "linux")]
        for pid in self.by_cookie() {
            use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // Checked again, because the id may have been reused before the handle was opened.
            if self.carries_cookie(pid) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
    }

    /// How many processes of the command are known to be left, without the shell.
    fn others(&self) -> usize {
        self.by_cookie().len()
    }

    /// Processes with the cookie in their environment, including those that left the group.
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

    /// Other systems do not show environments. Only the group is known there, and it is signalled
    /// as a whole.
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
