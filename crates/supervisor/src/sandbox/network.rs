//! The network namespace of a command. It has only loopback. A command with a proxy also gets a
//! listening socket there, on which the host accepts connections.
//!
//! A listening socket stays in the network in which it was made, even if another process owns it.
//! So the host's proxy can serve the command, and no helper process has to run inside the sandbox.

use std::{
    ffi::CString,
    io::{self, IoSlice},
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddrV4},
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        SocketAddrAny, SocketFlags, SocketType, bind, getsockname, listen, recv, send, sendmsg,
        socket_with,
    },
};
use toolwright_command_protocol::{CommandNetwork, SandboxPlan};

use super::SandboxError;
use crate::system_calls;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// Moves this process into a new network, if the plan asks for it.
pub(crate) fn enter_network(plan: &SandboxPlan) -> Result<(), SandboxError> {
    if plan.network == CommandNetwork::Open {
        return Ok(());
    }
    system_calls::leave_network()
        .map_err(|it| SandboxError::refused("its own network cannot be made", it))?;
    raise_loopback().map_err(|it| SandboxError::refused("its loopback cannot be used", it))
}

/// The address of a command's proxy inside its network.
pub(crate) struct ProxyAddress {
    port: u16,
}

impl ProxyAddress {
    /// Makes the socket that the proxy listens on, and sends it to the host over `proxy_link`.
    pub(crate) fn hand_out(proxy_link: &OwnedFd) -> Result<Self, SandboxError> {
        let refused = |it: Errno| SandboxError::refused("its proxy cannot be set up", it);
        let listener =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(refused)?;
        bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).map_err(refused)?;
        listen(&listener, BACKLOG).map_err(refused)?;
        let address: SocketAddrAny = getsockname(&listener).map_err(refused)?;
        let address = SocketAddrV4::try_from(address).map_err(refused)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let rights = [listener.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&rights));
        sendmsg(proxy_link, &[IoSlice::new(&[1])], &mut ancillary, SendFlags::NOSIGNAL)
            .map_err(refused)?;
        Ok(Self { port: address.port() })
    }

    /// The environment variables that tell programs about the proxy, each as `NAME=value`. All of
    /// them name an HTTP proxy, though it also speaks SOCKS, because programs without SOCKS support
    /// fail on a `socks` URL.
    pub(crate) fn variables(&self) -> Vec<CString> {
        let proxy = format!("http://127.0.0.1:{}", self.port);
        let straight = "localhost,127.0.0.1,::1".to_owned();
        let both = |name: &str, value: &str| {
            [format!("{name}={value}"), format!("{}={value}", name.to_ascii_lowercase())]
        };
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            .into_iter()
            .flat_map(|name| both(name, &proxy))
            .chain(both("NO_PROXY", &straight))
            // Node.js ignores the others unless this is set.
            .chain(["NODE_USE_ENV_PROXY=1".to_owned()])
            .filter_map(|it| CString::new(it).ok())
            .collect()
    }
}

/// The index of loopback in a new network, which has no other interface.
const LOOPBACK: i32 = 1;

/// Enables loopback with a request over a netlink socket.
fn raise_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLMSG_ERROR: u16 = 2;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    const LENGTH: u32 = 32;
    // Protocol 0 is `NETLINK_ROUTE`.
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    // Both headers use the byte order of the machine.
    let mut request = Vec::with_capacity(32);
    request.extend(LENGTH.to_ne_bytes());
    request.extend(RTM_NEWLINK.to_ne_bytes());
    request.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    // The sequence number and the sender.
    request.extend([0; 8]);
    // The address family and the device type: any.
    request.extend([0; 4]);
    request.extend(LOOPBACK.to_ne_bytes());
    // The flags, and the mask of the flags to change.
    request.extend(IFF_UP.to_ne_bytes());
    request.extend(IFF_UP.to_ne_bytes());
    send(&kernel, &request, SendFlags::empty())?;
    let mut answer = [0; 128];
    let length = loop {
        match recv(&kernel, &mut answer, RecvFlags::empty()) {
            Ok((_, length)) => break length,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let answer = answer.get(..length).unwrap_or_default();
    let kind = answer.get(4..6).and_then(|it| it.try_into().ok()).map(u16::from_ne_bytes);
    let error = answer.get(16..20).and_then(|it| it.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, error) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(Errno::PROTO.into()),
    }
}
