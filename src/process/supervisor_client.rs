//! The host's end of the supervisor: starts it, hands it commands, lets it go.

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
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

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

use super::{
    descendants::{SeenProcess, children, look, look_again, signal},
    launcher::{CommandStreams, memory_file},
    protocol::{COOKIE, CommandRequest, HELLO, MAX_DESCRIPTORS, ProcessIdentity},
    settings::ProcessSettings,
};

/// How long a supervisor may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long there may be no room for another command on the way to it before something is done about it.
const SEND_PATIENCE: Duration = Duration::from_millis(500);
/// How often it is tried to send a command.
const MAX_SENDS: usize = 10;

/// The supervisor's process.
pub(super) struct SupervisorClient {
    socket: OwnedFd,
    child: Option<Child>,
    process: Option<ProcessIdentity>,
    /// Those below it, when they were last looked at.
    others: Mutex<Vec<ProcessIdentity>>,
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
            // It must not keep a directory in use.
            .current_dir("/")
            .stdin(theirs)
            // Where it reads the environments of commands from.
            .stdout(environments_file(settings)?)
            .stderr(Stdio::null())
            .spawn()?;
        let process = look(child.id().cast_signed()).map(|it| it.process);
        let supervisor = Self { socket, child: Some(child), process, others: Mutex::default() };
        let mut hello = [0; HELLO.len()];
        set_socket_timeout(&supervisor.socket, Timeout::Recv, Some(PATIENCE))?;
        set_socket_timeout(&supervisor.socket, Timeout::Send, Some(SEND_PATIENCE))?;
        recv(&supervisor.socket, &mut hello, RecvFlags::empty())?;
        if hello == HELLO { Ok(supervisor) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// Hands over a command.
    pub(super) fn ask(
        &self,
        request: &CommandRequest,
        streams: &CommandStreams,
        line: &UnixStream,
    ) -> io::Result<()> {
        let message = request.encode();
        let apart = streams.errors.iter().chain(&streams.input).map(OwnedFd::as_fd);
        let descriptors: Vec<_> =
            [line.as_fd(), streams.output.as_fd()].into_iter().chain(apart).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let message = [IoSlice::new(&message)];
        for _ in 0..MAX_SENDS {
            match sendmsg(&self.socket, &message, &mut ancillary, SendFlags::NOSIGNAL) {
                // Too much waits for those who take it; somebody may have stopped them.
                Err(Errno::AGAIN) => self.resume(),
                Err(Errno::INTR) => true,
                sent => return sent.map(|_| ()).map_err(io::Error::from),
            };
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Sets it going again where somebody stopped it, with those that it keeps ready; true when all were
    /// going.
    pub(super) fn resume(&self) -> bool {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = self.process.and_then(look_again) else {
            // Its children are nobody's now, and only known from before.
            resume_all(others.iter().filter_map(|it| look_again(*it)));
            return false;
        };
        let ready = children(seen.process.pid).unwrap_or_default();
        let all: Vec<SeenProcess> = ready.into_iter().filter_map(look).collect();
        *others = all.iter().map(|it| it.process).collect();
        !resume_all([seen].into_iter().chain(all))
    }

    /// Ends it at once. Commands that it has handed to their keepers go on.
    pub(super) fn kill(&mut self) {
        // Those that it keeps ready have to go on to notice that it is gone.
        self.resume();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }

    /// Lets it go. It ends when it notices that nobody is there, after the processes it kept ready. What
    /// comes back is closed once it has ended.
    pub(super) fn let_go(mut self) -> Option<oneshot::Receiver<()>> {
        self.leave()
    }

    fn leave(&mut self) -> Option<oneshot::Receiver<()>> {
        // One that is stopped would not notice.
        self.resume();
        let mut child = self.child.take()?;
        let _ = shutdown(&self.socket, Shutdown::Both);
        let (ended, is_ended) = oneshot::channel();
        // Somebody has to take note, or its entry in the table of processes stays.
        let waiter = thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            let _ = child.wait();
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

/// Sets processes going again that were stopped; true when there were any.
fn resume_all(processes: impl IntoIterator<Item = SeenProcess>) -> bool {
    let mut were_stopped = false;
    for stopped in processes.into_iter().filter(|it| it.is_stopped) {
        signal(stopped.process, Signal::CONT);
        were_stopped = true;
    }
    were_stopped
}

/// A file in memory with the environments of commands and of helpers.
fn environments_file(settings: &ProcessSettings) -> io::Result<File> {
    let mut text = Vec::new();
    for variables in [&settings.environment, &settings.helper_environment] {
        // Not the cookie of a command that this host itself may be in.
        for (name, value) in variables.iter().filter(|(name, _)| name != COOKIE) {
            text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
        text.push(0);
    }
    memory_file(&text)
}
