//! Receives the listening socket of a proxy from the network namespace of its command.

use std::{
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    net::TcpListener,
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt};
use tokio::{io::Interest, net::UnixStream};

/// Waits for the socket. Fails if the other side ends without sending it: the command was not started, or has
/// no separate network.
pub(crate) async fn receive_listener(link: StdStream) -> io::Result<TcpListener> {
    link.set_nonblocking(true)?;
    let link = UnixStream::from_std(link)?;
    let socket = link.async_io(Interest::READABLE, || receive(&link)).await?;
    if !sockopt::socket_acceptconn(&socket)? {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(socket.into())
}

fn receive(link: &UnixStream) -> io::Result<OwnedFd> {
    let mut message = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    recvmsg(link, &mut [IoSliceMut::new(&mut message)], &mut ancillary, flags)?;
    let sockets = ancillary.drain().find_map(|it| match it {
        RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
        _ => None,
    });
    sockets.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
