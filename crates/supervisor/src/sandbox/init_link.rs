//! The messages that PID 1 of a sandbox sends to its keeper, over a socket that preserves message
//! boundaries.

use std::{io, os::fd::OwnedFd};

use rustix::{
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};
use toolwright_command_protocol::{LimitKind, MAX_CWD_BYTES, limit_byte, limit_of};

/// The longest message in bytes.
const MAX_MESSAGE_BYTES: usize = MAX_CWD_BYTES + 64;

/// How a shell ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let mut message = self.encode();
        message.truncate(MAX_MESSAGE_BYTES);
        send(link, &message, SendFlags::NOSIGNAL)?;
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
            Some(bytes) => Self::decode(bytes).map(Some).ok_or_else(|| Errno::PROTO.into()),
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Ready => vec![0],
            Self::Refused(reason) => [&[1], reason.as_bytes()].concat(),
            Self::NotStarted(error) => [[2].as_slice(), &error.to_le_bytes()].concat(),
            Self::Started => vec![3],
            Self::ShellEnded(end) => {
                let mut message = vec![4, end.limit_hit.map_or(0, limit_byte)];
                for number in [end.exit_code, end.signal] {
                    message.push(u8::from(number.is_some()));
                    message.extend(number.unwrap_or_default().to_le_bytes());
                }
                message.extend(end.cwd.as_deref().unwrap_or_default());
                message
            }
            Self::AllGone => vec![5],
            Self::Unfit => vec![6],
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        Some(match tag {
            0 => Self::Ready,
            1 => Self::Refused(String::from_utf8_lossy(rest).into_owned()),
            2 => Self::NotStarted(i32::from_le_bytes(rest.try_into().ok()?)),
            3 => Self::Started,
            4 => {
                let (limit, mut rest) = rest.split_first()?;
                let mut number = || {
                    let ([is_set, number @ ..], left) = rest.split_first_chunk::<5>()?;
                    rest = left;
                    Some((*is_set == 1).then_some(i32::from_le_bytes(*number)))
                };
                let (exit_code, signal) = (number()?, number()?);
                let cwd = (!rest.is_empty()).then(|| rest.to_vec());
                Self::ShellEnded(ShellEnd { exit_code, signal, cwd, limit_hit: limit_of(*limit) })
            }
            5 => Self::AllGone,
            6 => Self::Unfit,
            _ => return None,
        })
    }
}
