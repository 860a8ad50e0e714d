//! The plan that the next command will most likely have. Most commands have the same plan as the
//! previous one, so PID 1 mounts it before the command arrives.

use std::{
    fs::File,
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::init::read_plan;
use crate::descriptor_messages::{receive_with_descriptors, send_with_descriptors};

/// The longest plan that is foreseen, in bytes. Each spare has a copy.
const MAX_FORESEEN_BYTES: usize = 128 * 1024;

/// The foreseen plan, and the socket over which keepers report a different one.
pub(crate) struct ForeseenPlan {
    pub(crate) socket: OwnedFd,
    /// The keepers' end of the socket.
    reports: OwnedFd,
    /// The last plan that differed from the foreseen one.
    last: Vec<u8>,
    /// `None` until two commands in a row had the same plan.
    foreseen: Option<Vec<u8>>,
}

/// The keeper's side of [`ForeseenPlan`].
pub(crate) struct PlanReports {
    reports: OwnedFd,
    /// The plan that was foreseen when its spare was forked.
    pub(crate) foreseen: Option<Vec<u8>>,
}

impl ForeseenPlan {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (socket, reports) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok(Self { socket, reports, last: Vec::new(), foreseen: None })
    }

    /// Keeps the parts that a new spare needs.
    pub(crate) fn into_reports(self) -> PlanReports {
        PlanReports { reports: self.reports, foreseen: self.foreseen }
    }

    /// Receives the plans that keepers have reported.
    pub(crate) fn receive(&mut self) {
        while let Ok(Some((_, descriptors))) = receive_with_descriptors(&self.socket, &mut [0]) {
            let plan = descriptors.into_iter().next().map(File::from);
            let bytes = plan.and_then(|it| read_plan(&it)).unwrap_or_default();
            if Some(&bytes) == self.foreseen.as_ref() {
                // The spare of this command was forked before the plan was foreseen.
                continue;
            }
            let is_again = bytes == self.last && !bytes.is_empty();
            self.foreseen = (is_again && bytes.len() <= MAX_FORESEEN_BYTES).then(|| bytes.clone());
            self.last = bytes;
        }
    }
}

impl PlanReports {
    /// Reports the plan of a command to the supervisor, unless it was foreseen.
    pub(crate) fn report(&self, file: &File, bytes: &[u8]) {
        if self.foreseen.as_deref() != Some(bytes) {
            // If the socket is full, the supervisor foresees nothing.
            let _ = send_with_descriptors(&self.reports, &[1], &[file.as_fd()]);
        }
    }
}
