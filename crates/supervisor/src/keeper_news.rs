//! The messages that keepers send to the supervisor about themselves, over a pipe that they share.

use std::os::fd::OwnedFd;

/// A message of a keeper about itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeeperNews {
    /// It has a command.
    HasCommand = 0,
    /// It has a command that needs a sandbox in namespaces.
    HasSandboxedCommand = 1,
    /// It waits for another command.
    Waits = 2,
}

/// The length of a message: the process id and the kind.
pub(crate) const KEEPER_NEWS_BYTES: usize = 5;

impl KeeperNews {
    /// Sends the message to the supervisor.
    pub(crate) fn send(self, supervisor: &OwnedFd) {
        let [a, b, c, d] = std::process::id().to_le_bytes();
        // Fails only if the supervisor is gone.
        let _ = rustix::io::write(supervisor, &[a, b, c, d, self as u8]);
    }

    /// Decodes a message into the process id and the kind.
    pub(crate) fn decode([id @ .., news]: [u8; KEEPER_NEWS_BYTES]) -> (i32, Self) {
        let news = match news {
            1 => Self::HasSandboxedCommand,
            2 => Self::Waits,
            _ => Self::HasCommand,
        };
        (i32::from_le_bytes(id), news)
    }
}
