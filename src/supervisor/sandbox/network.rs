//! A network of a command's own: loopback alone, and for a command with a proxy a socket there that the host
//! accepts on.
//!
//! A listening socket stays in the network in which it was made, whoever has it. So the host's proxy serves the
//! command without anything of ours running beside it.

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

use super::{CommandNetwork, SandboxError, SandboxPlan};
use crate::system_calls;

/// How many connections wait to be accepted.
const BACKLOG: i32 = 128;

/// Moves this process into a network of its own, if the plan says so.
pub(crate) fn enter_network(plan: &SandboxPlan) -> Result<(), SandboxError> {
    if plan.network == CommandNetwork::Open {
        return Ok(());
    }
    system_calls::leave_network()
        .map_err(|it| SandboxError::refused("it cannot have a network of its own", it))?;
    raise_loopback().map_err(|it| SandboxError::refused("its loopback cannot be used", it))
}

/// The way to the proxy of a command.
pub(crate) struct ProxyAddress {
    port: u16,
}

impl ProxyAddress {
    /// Makes the socket that the proxy listens on, and hands it to the host.
    pub(crate) fn hand_out(door: &OwnedFd) -> Result<Self, SandboxError> {
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
        sendmsg(door, &[IoSlice::new(&[1])], &mut ancillary, SendFlags::NOSIGNAL)
            .map_err(refused)?;
        Ok(Self { port: address.port() })
    }

    /// The variables that programs find the proxy by, each as `NAME=value`. All of them name it as one for HTTP,
    /// though it also speaks SOCKS: programs that know no SOCKS fail over a variable that names it.
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
            // Node.js looks at the others only if it is told to.
            .chain(["NODE_USE_ENV_PROXY=1".to_owned()])
            .filter_map(|it| CString::new(it).ok())
            .collect()
    }
}

/// The number of loopback in a new network, which has no other interface.
const LOOPBACK: i32 = 1;

/// Switches loopback on, over the socket that answers requests about networks.
fn raise_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLMSG_ERROR: u16 = 2;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    const LENGTH: u32 = 32;
    // The protocol 0 is the one about networks.
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    // Both headers have the byte order of the machine.
    let mut request = Vec::with_capacity(32);
    request.extend(LENGTH.to_ne_bytes());
    request.extend(RTM_NEWLINK.to_ne_bytes());
    request.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    // Its number, and who asks.
    request.extend([0; 8]);
    // The family and the kind, which are any.
    request.extend([0; 4]);
    request.extend(LOOPBACK.to_ne_bytes());
    // What is set, and what is changed.
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
