//! Placeholders that the supervisor keeps while commands run in quick succession. Making and
//! removing them for each command would take longer than the command, because file systems are slow
//! to reuse an inode number.

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
use toolwright_command_protocol::PlaceKind;

use super::placeholders::Placeholder;
use crate::descriptor_messages::{receive_with_descriptors, send_with_descriptors};

/// How long after the last sandboxed command the placeholders are removed.
const KEPT_FOR: Duration = Duration::from_millis(250);
/// The pause before checking again the placeholders that were still needed.
const NEXT_LOOK: Duration = Duration::from_secs(1);
/// [`BUSY_COMMANDS`] commands within this time count as quick succession.
const BUSY_TIME: Duration = Duration::from_secs(1);
const BUSY_COMMANDS: usize = 12;
/// The most placeholders that are kept. Keepers remove any others themselves.
const MAX_KEPT: usize = 256;
/// The longest file name, and the kind.
const MAX_MESSAGE_BYTES: usize = 256 + 8;

/// The placeholders that the supervisor keeps, and the socket over which keepers hand them over.
pub(crate) struct KeptPlaceholders {
    pub(crate) socket: OwnedFd,
    /// The keepers' end of the socket.
    handover: OwnedFd,
    kept: Vec<Placeholder>,
    /// When the last sandboxed commands arrived, newest first.
    uses: Vec<Instant>,
}

/// Sends a placeholder to the supervisor, together with its lock.
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

    /// Records that `count` sandboxed commands have arrived.
    pub(crate) fn note_uses(&mut self, count: usize) {
        let now = Instant::now();
        let earlier = std::mem::take(&mut self.uses).into_iter();
        let recent = earlier.filter(|it| now.saturating_duration_since(*it) < BUSY_TIME);
        self.uses = std::iter::repeat_n(now, count).chain(recent).take(BUSY_COMMANDS).collect();
    }

    /// How long keepers should hand placeholders over. Zero unless sandboxed commands run in quick
    /// succession.
    pub(crate) fn wanted_for(&self) -> Duration {
        let since = self.uses.get(BUSY_COMMANDS - 1).filter(|_| self.kept.len() < MAX_KEPT);
        since.map_or(Duration::ZERO, |it| BUSY_TIME.saturating_sub(it.elapsed()))
    }

    /// Keeps the socket that a spare needs to hand placeholders over.
    pub(crate) fn into_handover(self) -> OwnedFd {
        self.handover
    }

    /// Receives the placeholders that keepers have handed over.
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

    /// Removes the placeholders when they are due. Returns the time until the next call is needed,
    /// if any are left.
    pub(crate) fn sweep(&mut self) -> Option<Duration> {
        if self.kept.is_empty() {
            return None;
        }
        let last = self.uses.first().map_or(KEPT_FOR, Instant::elapsed);
        if let Some(left) = KEPT_FOR.checked_sub(last).filter(|it| !it.is_zero()) {
            return Some(left);
        }
        // Placeholders that a command still needs are checked again later.
        self.kept.retain(|it| !it.remove_or_keep());
        (!self.kept.is_empty()).then_some(NEXT_LOOK)
    }

    /// Removes all placeholders that no command needs.
    pub(crate) fn remove_all(&mut self) {
        self.receive();
        self.kept.retain(|it| !it.remove());
    }
}
