//! The messages that PID 1 of a sandbox sends to its keeper, over a socket that preserves message
//! boundaries.

use std::{io, os::fd::OwnedFd};

use rustix::{
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};
use serde::{Deserialize, Serialize};
use toolwright_command_protocol::{LimitKind, MAX_CWD_BYTES};

/// The longest message in bytes: a reason that shows a path, each byte of which may be shown as three.
const MAX_MESSAGE_BYTES: usize = 4 * MAX_CWD_BYTES;

/// How a shell ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ShellEnd {
    /// Its exit code, if it exited.
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub(crate) signal: Option<i32>,
    /// Its last working directory, if it is known.
    pub(crate) cwd: Option<Vec<u8>>,
    /// The limit that it reached, if known.
    pub(crate) limit_hit: Option<LimitKind>,
}

/// A message from PID 1 to its keeper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum InitMessage {
    /// Everything that every command needs is prepared.
    Ready,
    /// The foreseen plan could not be mounted, or the sandbox no longer matches its plan. This
    /// sandbox cannot be used, and no shell was started.
    Unfit,
    /// The sandbox could not be made, for this reason. No shell was started.
    Refused(String),
    /// The shell could not be started, with this error number.
    NotStarted(i32),
    /// The shell was started.
    Started,
    /// The shell has ended. Other processes may still run.
    ShellEnded(ShellEnd),
    /// All other processes have ended. PID 1 waits for another command.
    AllGone,
}

impl InitMessage {
    /// Sends the message. Fails only if the keeper is gone.
    pub(crate) fn send(&self, link: &OwnedFd) -> io::Result<()> {
        let mut room = [0; MAX_MESSAGE_BYTES];
        let message = postcard::to_slice(self, &mut room).map_err(io::Error::other)?;
        send(link, message, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Waits for the next message. Returns `None` when PID 1 is gone.
    pub(crate) fn receive(link: &OwnedFd) -> io::Result<Option<Self>> {
        Self::take(link, RecvFlags::empty())
    }

    /// Returns the next message without waiting. The error is `WouldBlock` if there is none.
    pub(crate) fn receive_now(link: &OwnedFd) -> io::Result<Option<Self>> {
        Self::take(link, RecvFlags::DONTWAIT)
    }

    fn take(link: &OwnedFd, flags: RecvFlags) -> io::Result<Option<Self>> {
        let mut message = [0; MAX_MESSAGE_BYTES];
        let length = loop {
            match recv(link, &mut message, flags) {
                Ok((_, length)) => break length,
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        };
        match message.get(..length) {
            None | Some([]) => Ok(None),
            Some(bytes) => postcard::from_bytes(bytes).map(Some).map_err(|_| Errno::PROTO.into()),
        }
    }
}
