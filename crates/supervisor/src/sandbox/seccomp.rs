//! The filter of system calls that closes the network. Landlock restricts only TCP. Commands in
//! namespaces have their own network, but some kinds of sockets ignore network namespaces, such as
//! `AF_VSOCK` between a virtual machine and its host.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Sockets that stay inside the machine: between processes, with the kernel, and for the kernel's
/// ciphers. All others are refused, because some of them, such as `AF_SMC`, can carry TCP.
const LOCAL_FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_ALG];

/// Sockets that stay inside a network namespace.
const NETWORK_FAMILIES: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET];

/// A filter for commands in the network of the host.
pub(crate) fn without_network() -> io::Result<BpfProgram> {
    only_families(&LOCAL_FAMILIES)
}

/// A filter for commands in their own network namespace.
pub(crate) fn within_network() -> io::Result<BpfProgram> {
    only_families(&[LOCAL_FAMILIES, NETWORK_FAMILIES].concat())
}

/// Refuses all other kinds of sockets with EPERM. Also refuses `io_uring`, which could make sockets
/// without the filter. SIGSYS kills programs of another architecture, because their system calls
/// have other numbers.
fn only_families(families: &[i32]) -> io::Result<BpfProgram> {
    let is_another = |family: i32| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = families.iter().copied().map(is_another).collect::<Result<Vec<_>, _>>();
    let to_others = conditions.and_then(SeccompRule::new).map_err(io::Error::other)?;
    let sockets = numbers(libc::SYS_socket).map(|it| (it, vec![to_others.clone()]));
    // An empty list of rules matches every call.
    let rings = numbers(libc::SYS_io_uring_setup).map(|it| (it, Vec::new()));
    let rules: BTreeMap<_, _> = sockets.chain(rings).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine);
    filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
}

/// The numbers of a system call. On x86-64 each call has a second number for the x32 ABI.
fn numbers(call: i64) -> impl Iterator<Item = i64> {
    const X32: i64 = 0x4000_0000;
    let second = cfg!(target_arch = "x86_64").then_some(call | X32);
    std::iter::once(call).chain(second)
}
