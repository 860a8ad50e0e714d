//! Messages with file descriptors, over a socket that preserves message boundaries.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};
use toolwright_command_protocol::MAX_DESCRIPTORS;

/// Waits for the next message. A message longer than `room` is truncated. `None` if the other side
/// is gone.
pub(crate) fn receive_with_descriptors(
    socket: &OwnedFd,
    room: &mut [u8],
) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(room)];
        match recvmsg(socket, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let message = room.get(..received.bytes).unwrap_or_default();
    Ok((!message.is_empty()).then(|| (message.to_vec(), descriptors)))
}

/// Sends a message.
pub(crate) fn send_with_descriptors(
    socket: &OwnedFd,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
