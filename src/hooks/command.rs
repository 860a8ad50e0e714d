//! A hook that is a shell command: the event on its standard input, its answer on standard output.
//!
//! Exit 0 is an answer, JSON or nothing; exit 2 blocks, with standard error as the reason; everything
//! else is a failure. The command belongs to the host and runs with the host's environment.

use std::{
    io::{self, Read, Write as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::HookRunner;
use crate::tool::ToolContext;

/// How much of a hook's output is read.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// How often a running hook is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How long output may keep coming after a hook has ended: something it started may hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// A shell command of the host.
pub struct CommandHook {
    /// The command line, for the system's shell.
    pub command: String,
}

#[async_trait]
impl HookRunner for CommandHook {
    async fn run(&self, event: &Value, cx: &ToolContext) -> Result<Value, String> {
        let (command, event) = (self.command.clone(), event.to_string());
        let directory = cx.session.roots.first().to_owned();
        // Dropped when the hook's time is up or its call has ended: the process goes with it.
        let stop = cx.cancel.child_token();
        let _stop_when_dropped = stop.clone().drop_guard();
        let ended = tokio::task::spawn_blocking(move || {
            run(&command, directory, event, &|| stop.is_cancelled())
        });
        let Ended { status, stdout, stderr } = ended
            .await
            .map_err(|err| err.to_string())?
            .map_err(|err| format!("`{}` cannot be run: {err}", self.command))?;
        let command = &self.command;
        match status.code() {
            Some(0) => answer(&stdout).map_err(|cause| format!("`{command}` {cause}")),
            Some(2) => Ok(json!({ "decision": "block", "reason": stderr.text.trim() })),
            _ => Err(format!("`{command}` ended with {status}: {}", stderr.text.trim())),
        }
    }
}

/// What a hook says on standard output. Nothing is an answer only where nothing more can come.
fn answer(stdout: &Output) -> Result<Value, String> {
    if stdout.is_cut {
        return Err(format!(
            "printed more than {MAX_OUTPUT_BYTES} bytes, so its answer is not known"
        ));
    }
    let text = stdout.text.trim();
    if text.is_empty() && stdout.has_ended {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|err| {
        if stdout.has_ended {
            format!("printed something that is no JSON: {err}")
        } else {
            "left something running that holds its output open, so its answer is not known; \
             redirect the output of what it starts"
                .to_owned()
        }
    })
}

struct Ended {
    status: ExitStatus,
    stdout: Output,
    stderr: Output,
}

/// What came from a pipe.
#[derive(Default)]
struct Output {
    text: String,
    /// True when more came than is kept.
    is_cut: bool,
    /// True when nothing more can come.
    has_ended: bool,
}

fn run(
    command: &str,
    directory: PathBuf,
    event: String,
    stopped: &dyn Fn() -> bool,
) -> io::Result<Ended> {
    let mut child = shell(command)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // On its own thread: a hook that does not read must not hold the call. It ends with the pipe.
        thread::spawn(move || {
            let _hung_up = stdin.write_all(event.as_bytes());
        });
    }
    let stdout = child.stdout.take().map(|it| collect(Box::new(it)));
    let stderr = child.stderr.take().map(|it| collect(Box::new(it)));
    while !has_ended(&mut child)? {
        if stopped() {
            kill(&mut child);
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(LOOK);
    }
    // What it left running goes with it. Before it is reaped: then its number could mean another group.
    kill(&mut child);
    let status = child.wait()?;
    let output = |pipe: Option<Pipe>| pipe.map(Pipe::output).unwrap_or_default();
    Ok(Ended { status, stdout: output(stdout), stderr: output(stderr) })
}

/// A pipe that is being read.
struct Pipe {
    /// What came, and one byte more where it was cut.
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Hangs up when nothing more can come.
    ended: mpsc::Receiver<()>,
}

impl Pipe {
    /// What came until now, and in the short time that is left.
    fn output(self) -> Output {
        let has_ended = self.ended.recv_timeout(DRAIN) == Err(mpsc::RecvTimeoutError::Disconnected);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = bytes.get(..MAX_OUTPUT_BYTES).unwrap_or(&bytes);
        let text = String::from_utf8_lossy(kept).into_owned();
        Output { text, is_cut: bytes.len() > MAX_OUTPUT_BYTES, has_ended }
    }
}

fn collect(mut source: Box<dyn Read + Send>) -> Pipe {
    let (running, ended) = mpsc::channel::<()>();
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bytes);
    thread::spawn(move || {
        let _hangs_up = running;
        let mut piece = [0; 8_192];
        loop {
            let came = match source.read(&mut piece) {
                Ok(0) => break,
                Ok(came) => came,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // The rest is read and dropped, so that the hook is not stopped by a full pipe.
            let room = (MAX_OUTPUT_BYTES + 1).saturating_sub(bytes.len());
            bytes.extend(piece.iter().take(came.min(room)));
        }
    });
    Pipe { bytes, ended }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

/// Whether the shell has ended; it is not reaped yet.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid_of(child) else { return Ok(true) };
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), look)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|it| it.is_some())
}

/// Ends the hook and everything in its group.
#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Signal, kill_process_group};
    if let Some(group) = pid_of(child) {
        let _gone_already = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _gone_already = child.kill();
}

#[cfg(unix)]
fn pid_of(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}
