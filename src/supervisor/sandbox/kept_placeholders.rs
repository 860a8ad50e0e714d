//! Placeholders that the supervisor keeps while one command follows the other. Making and removing them for each
//! command would take longer than the command: a file system does not like to use a number again at once.

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
};

use super::{PlaceKind, placeholders::Placeholder};
use crate::descriptor_messages::{receive_with_descriptors, send_with_descriptors};

/// How long after the last command that needed a sandbox they are removed.
const KEPT_FOR: Duration = Duration::from_millis(250);
/// How long it takes until those that were still needed are looked at again.
const NEXT_LOOK: Duration = Duration::from_secs(1);
/// Within this time so many commands count as one following the other.
const BUSY_TIME: Duration = Duration::from_secs(1);
const BUSY_COMMANDS: usize = 12;
/// The most that are kept. Keepers remove what is beyond that themselves.
const MAX_KEPT: usize = 256;
/// The longest name of a file, and its kind.
const MAX_MESSAGE_BYTES: usize = 256 + 8;

/// The placeholders that the supervisor keeps, and the socket over which keepers hand them over.
pub(crate) struct KeptPlaceholders {
    pub(crate) socket: OwnedFd,
    /// The end of the keepers.
    handover: OwnedFd,
    kept: Vec<Placeholder>,
    /// When the last commands with a sandbox came.
    uses: Vec<Instant>,
}

/// Sends a placeholder to the supervisor, with the lock on it.
pub(super) fn send_placeholder(placeholder: &Placeholder, handover: &OwnedFd) -> io::Result<()> {
    let name = placeholder.name.as_os_str().as_bytes();
    let kind = u8::from(placeholder.kind == PlaceKind::Directory);
    let descriptors = [placeholder.directory.as_fd(), placeholder.file.as_fd()];
    send_with_descriptors(handover, &[&[kind], name].concat(), &descriptors)
}

impl KeptPlaceholders {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (socket, handover) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok(Self { socket, handover, kept: Vec::new(), uses: Vec::new() })
    }

    /// Notes that so many commands with a sandbox came.
    pub(crate) fn note_uses(&mut self, count: usize) {
        let now = Instant::now();
        let earlier = std::mem::take(&mut self.uses).into_iter();
        let recent = earlier.filter(|it| now.saturating_duration_since(*it) < BUSY_TIME);
        self.uses = std::iter::repeat_n(now, count).chain(recent).take(BUSY_COMMANDS).collect();
    }

    /// For how long placeholders are to be handed over: while commands with a sandbox follow each other so quickly
    /// that they are kept for them.
    pub(crate) fn wanted_for(&self) -> Duration {
        let since = self.uses.get(BUSY_COMMANDS - 1).filter(|_| self.kept.len() < MAX_KEPT);
        since.map_or(Duration::ZERO, |it| BUSY_TIME.saturating_sub(it.elapsed()))
    }

    /// What a spare needs of this to hand placeholders over.
    pub(crate) fn into_handover(self) -> OwnedFd {
        self.handover
    }

    /// Takes over what keepers have handed over.
    pub(crate) fn receive(&mut self) {
        loop {
            match receive_with_descriptors(&self.socket, &mut [0; MAX_MESSAGE_BYTES]) {
                Ok(Some((message, descriptors))) => {
                    let mut descriptors = descriptors.into_iter();
                    let (Some((kind, name)), Some(directory), Some(file)) =
                        (message.split_first(), descriptors.next(), descriptors.next())
                    else {
                        continue;
                    };
                    let kind = if *kind == 1 { PlaceKind::Directory } else { PlaceKind::File };
                    let name = Path::new(OsStr::from_bytes(name)).to_owned();
                    self.kept.push(Placeholder { directory, name, kind, file, is_own: true });
                }
                Err(error) if error.raw_os_error() == Some(Errno::INTR.raw_os_error()) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Removes them once it is time. Returns how long it is until then, if there are any.
    pub(crate) fn sweep(&mut self) -> Option<Duration> {
        if self.kept.is_empty() {
            return None;
        }
        let last = self.uses.first().map_or(KEPT_FOR, Instant::elapsed);
        if let Some(left) = KEPT_FOR.checked_sub(last).filter(|it| !it.is_zero()) {
            return Some(left);
        }
        // Those that a command still needs are looked at again.
        self.kept.retain(|it| !it.remove_or_keep());
        (!self.kept.is_empty()).then_some(NEXT_LOOK)
    }

    /// Removes all that no command needs.
    pub(crate) fn remove_all(&mut self) {
        self.receive();
        self.kept.retain(|it| !it.remove());
    }
}
