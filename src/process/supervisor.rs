//! The host's end of the supervisor: starts it, hands it commands, lets it go.

use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown,
    SocketFlags, SocketType, recv, sendmsg, shutdown, socketpair,
    sockopt::{Timeout, set_socket_timeout},
};
use tokio::sync::oneshot;

use super::{
    protocol::{HELLO, Request},
    settings::ProcessSettings,
};

/// How long a supervisor may take to say that it is there, and to take a command. Longer, it was stopped.
const PATIENCE: Duration = Duration::from_secs(5);

/// The supervisor's process.
pub(super) struct Supervisor {
    socket: OwnedFd,
    child: Option<Child>,
}

impl Supervisor {
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
            .envs(settings.environment.iter().map(|(name, value)| (name, value)))
            // It must not keep a directory in use.
            .current_dir("/")
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let supervisor = Self { socket, child: Some(child) };
        let mut hello = [0; HELLO.len()];
        for direction in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&supervisor.socket, direction, Some(PATIENCE))?;
        }
        recv(&supervisor.socket, &mut hello, RecvFlags::empty())?;
        if hello == HELLO { Ok(supervisor) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// Hands over a command.
    pub(super) fn ask(
        &self,
        request: &Request,
        output: &OwnedFd,
        line: &UnixStream,
    ) -> io::Result<()> {
        let message = request.encode();
        let descriptors = [output.as_fd(), line.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.socket, &[IoSlice::new(&message)], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Lets it go. It ends when it notices that nobody is there, after the processes it kept ready. What
    /// comes back is closed once it has ended.
    pub(super) fn let_go(mut self) -> Option<oneshot::Receiver<()>> {
        self.leave()
    }

    fn leave(&mut self) -> Option<oneshot::Receiver<()>> {
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

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.leave();
    }
}
