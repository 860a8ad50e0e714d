//! A hook that is a shell command: the event on its standard input, its answer on standard output.
//!
//! Exit 0 is an answer, JSON or nothing; exit 2 blocks, with standard error as the reason; everything
//! else is a failure. The command belongs to the host and runs with the host's environment.

use std::{
    io::{self, Read, Write as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::HookRunner;
use crate::tool::ToolContext;

/// How much of a hook's output is read.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;
/// How often a running hook is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How long output may keep coming after a hook has ended: something it started may hold the pipe.
const DRAIN: Duration = Duration::from_millis(500);

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
        match status.code() {
            Some(0) if stdout.trim().is_empty() => Ok(Value::Null),
            Some(0) => serde_json::from_str(&stdout).map_err(|err| {
                format!("`{}` printed something that is no JSON: {err}", self.command)
            }),
            Some(2) => Ok(json!({ "decision": "block", "reason": stderr.trim() })),
            _ => Err(format!("`{}` ended with {status}: {}", self.command, stderr.trim())),
        }
    }
}

struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
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
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
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
    let text = |output: Option<mpsc::Receiver<Vec<u8>>>| {
        let bytes = output.and_then(|it| it.recv_timeout(DRAIN).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Ended { status, stdout: text(stdout), stderr: text(stderr) })
}

fn collect(source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut source = source.take(MAX_OUTPUT_BYTES);
        let _what_came = source.read_to_end(&mut bytes);
        // The rest is read and dropped, so that the hook is not stopped by a full pipe.
        let _rest = io::copy(&mut source.into_inner(), &mut io::sink());
        let _nobody_waits = sender.send(bytes);
    });
    receiver
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
