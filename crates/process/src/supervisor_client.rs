//! The host's side of the supervisor: starts its process, sends it commands, and makes it exit.

use std::{
    fs::File,
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, net::UnixStream},
    },
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown,
        SocketFlags, SocketType, recv, sendmsg, shutdown, socketpair,
        sockopt::{Timeout, set_socket_timeout},
    },
    process::Signal,
};
use tokio::sync::oneshot;
use toolwright_command_protocol::{
    COOKIE, CommandRequest, HELLO, MAX_DESCRIPTORS, ProcessIdentity, SandboxSupport, SeenProcess,
    children, inspect, inspect_if_alive, signal,
};

use super::{
    launcher::{CommandStreams, memory_file},
    settings::ProcessSettings,
};

/// How long a new supervisor may take to send its first message.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the socket may be full before the supervisor is checked and resumed.
const SEND_TIMEOUT: Duration = Duration::from_millis(500);
/// How long to resume stopped processes that should exit.
const RESUME_TIME: Duration = Duration::from_secs(5);
/// The longest pause between two checks of whether they have exited.
const MAX_EXIT_PAUSE: Duration = Duration::from_millis(20);
/// How often to try to send one command.
const MAX_SENDS: usize = 10;

/// The supervisor's process.
pub(super) struct SupervisorClient {
    socket: OwnedFd,
    child: Option<Child>,
    process: Option<ProcessIdentity>,
    /// The sandbox features that it detected.
    pub(super) support: SandboxSupport,
    /// The children of the supervisor when it was last checked.
    children: Mutex<Vec<ProcessIdentity>>,
}

impl SupervisorClient {
    pub(super) fn start(
        program: &Path,
        settings: &ProcessSettings,
        files: &Path,
    ) -> io::Result<Self> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let child = Command::new(program)
            .arg(files)
            .env_clear()
            // A process keeps its current directory from being unmounted.
            .current_dir("/")
            .stdin(theirs)
            // The supervisor reads the environments of commands from this file.
            .stdout(environments_file(settings)?)
            .stderr(Stdio::null())
            .spawn()?;
        let process = inspect(child.id().cast_signed()).map(|it| it.process);
        let mut supervisor = Self {
            socket,
            child: Some(child),
            process,
            support: SandboxSupport::default(),
            children: Mutex::default(),
        };
        let mut hello = [0; HELLO.len() + SandboxSupport::MAX_BYTES];
        set_socket_timeout(&supervisor.socket, Timeout::Recv, Some(HELLO_TIMEOUT))?;
        set_socket_timeout(&supervisor.socket, Timeout::Send, Some(SEND_TIMEOUT))?;
        // Every child of the host that ends interrupts this call, because the socket has a timeout.
        let length = rustix::io::retry_on_intr(|| {
            recv(&supervisor.socket, hello.as_mut_slice(), RecvFlags::empty()).map(|it| it.1)
        })
        .map_err(|cause| match cause {
            Errno::AGAIN => {
                let seconds = HELLO_TIMEOUT.as_secs();
                io::Error::other(format!("it did not answer for {seconds} seconds"))
            }
            cause => cause.into(),
        })?;
        if length == 0 {
            return Err(io::Error::other("it ended at once"));
        }
        let support = hello.get(..length).and_then(|it| it.strip_prefix(&HELLO));
        match support.and_then(SandboxSupport::decode) {
            Some(support) => {
                supervisor.support = support;
                Ok(supervisor)
            }
            None => Err(io::Error::other(
                "it has another version; use the one from the addon's package",
            )),
        }
    }

    /// Sends a command to the supervisor.
    pub(super) fn request(
        &self,
        request: &CommandRequest,
        streams: &CommandStreams,
        plan: Option<&OwnedFd>,
        connection: &UnixStream,
    ) -> io::Result<()> {
        let message = request.encode();
        let optional = plan
            .into_iter()
            .chain(&streams.proxy_link)
            .chain(&streams.errors)
            .chain(&streams.input)
            .map(OwnedFd::as_fd);
        let descriptors: Vec<_> =
            [connection.as_fd(), streams.output.as_fd()].into_iter().chain(optional).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let message = [IoSlice::new(&message)];
        for _ in 0..MAX_SENDS {
            // Every child of the host that ends interrupts this, which must not use up the attempts.
            let sent = rustix::io::retry_on_intr(|| {
                sendmsg(&self.socket, &message, &mut ancillary, SendFlags::NOSIGNAL)
            });
            match sent {
                // The socket is full. The processes that read from it may have been stopped.
                Err(Errno::AGAIN) => self.resume(),
                sent => return sent.map(|_| ()).map_err(io::Error::from),
            };
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Resumes the supervisor and its spare processes if they were stopped by a signal. Returns
    /// true if none of them was.
    pub(super) fn resume(&self) -> bool {
        let mut known_children = self.children.lock();
        let Some(seen) = self.process.and_then(inspect_if_alive) else {
            // Its children have another parent now. They are only known from the last check.
            resume_all(known_children.iter().filter_map(|it| inspect_if_alive(*it)));
            return false;
        };
        let ready = children(seen.process.pid).unwrap_or_default();
        let all: Vec<SeenProcess> = ready.into_iter().filter_map(inspect).collect();
        *known_children = all.iter().map(|it| it.process).collect();
        !resume_all([seen].into_iter().chain(all))
    }

    /// Kills the supervisor. Commands that have a keeper continue.
    pub(super) fn kill(&mut self) {
        // Only a running process can notice that the supervisor is gone.
        self.resume();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }

    /// Makes the supervisor exit, by closing the socket. The returned channel closes once the
    /// supervisor and its spare processes have exited.
    pub(super) fn release(mut self) -> Option<oneshot::Receiver<()>> {
        self.leave()
    }

    fn leave(&mut self) -> Option<oneshot::Receiver<()>> {
        // A stopped process does not notice that the socket was closed.
        self.resume();
        let child = self.child.take()?;
        let _ = shutdown(&self.socket, Shutdown::Both);
        let (ended, is_ended) = oneshot::channel();
        let mut processes = std::mem::take(self.children.get_mut());
        processes.extend(self.process);
        let waiter = thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            wait_for_exit(child, &processes);
            drop(ended);
        });
        waiter.is_ok().then_some(is_ended)
    }
}

impl Drop for SupervisorClient {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Waits until the supervisor and its other processes have exited. A signal that was sent to one of
/// them earlier may take effect only now and stop it, so they are resumed until they are gone.
fn wait_for_exit(mut supervisor: Child, processes: &[ProcessIdentity]) {
    let deadline = Instant::now() + RESUME_TIME;
    let mut pause = Duration::from_millis(1);
    while Instant::now() < deadline {
        let is_running = matches!(supervisor.try_wait(), Ok(None));
        let alive = processes.iter().filter_map(|it| inspect_if_alive(*it));
        let alive: Vec<SeenProcess> = alive.filter(|it| !it.is_zombie).collect();
        if !is_running && alive.is_empty() {
            return;
        }
        resume_all(alive);
        thread::sleep(pause);
        pause = (pause * 2).min(MAX_EXIT_PAUSE);
    }
    // A process that exited stays a zombie until its parent waits for it.
    let _ = supervisor.wait();
}

/// Resumes the processes that were stopped by a signal. Returns true if there were any.
fn resume_all(processes: impl IntoIterator<Item = SeenProcess>) -> bool {
    let mut were_stopped = false;
    for stopped in processes.into_iter().filter(|it| it.is_stopped) {
        signal(stopped.process, Signal::CONT);
        were_stopped = true;
    }
    were_stopped
}

/// A file in memory with the environments of commands and of helpers, as the supervisor reads it.
fn environments_file(settings: &ProcessSettings) -> io::Result<File> {
    let mut text = Vec::new();
    for variables in [&settings.environment, &settings.helper_environment] {
        // Leaves out the cookie that this host has if a command started it.
        for (name, value) in variables.iter().filter(|(name, _)| name != COOKIE) {
            text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
        text.push(0);
    }
    memory_file(&text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    #[test]
    fn processes_that_are_stopped_while_they_should_exit_are_resumed() {
        let start = || Command::new("sleep").arg("0.2").spawn().unwrap();
        let (supervisor, mut other) = (start(), start());
        let identities: Vec<ProcessIdentity> = [&supervisor, &other]
            .map(|it| inspect(it.id().cast_signed()).unwrap().process)
            .into_iter()
            .collect();
        for process in &identities {
            signal(*process, Signal::STOP);
        }
        let (done, is_done) = mpsc::channel();
        let waited_for = identities.clone();
        let waiter = thread::spawn(move || {
            wait_for_exit(supervisor, &waited_for);
            done.send(()).unwrap();
        });
        let ended = is_done.recv_timeout(Duration::from_mins(1));
        // So that nothing is left behind when the assertion fails.
        resume_all(identities.iter().filter_map(|it| inspect_if_alive(*it)));
        assert!(other.wait().unwrap().success());
        waiter.join().unwrap();
        assert!(ended.is_ok(), "the processes stayed stopped");
    }
}
