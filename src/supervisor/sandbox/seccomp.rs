//! The filter of system calls that closes the network. The rules of the level `landlock` know TCP alone. Commands
//! in namespaces have a network of their own, but some kinds of sockets know no networks: those between a virtual
//! machine and its host (`AF_VSOCK`) lead out of every one.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The kinds of sockets that stay inside the machine: between its processes, with the kernel, and for its
/// ciphers. All others are refused, because some of them, such as `AF_SMC`, are TCP by another name.
const LOCAL_FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_ALG];

/// The kinds of sockets that stay inside a network of the command's own.
const NETWORK_FAMILIES: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET];

/// A filter for commands that have no network of their own.
pub(crate) fn without_network() -> io::Result<BpfProgram> {
    only_families(&LOCAL_FAMILIES)
}

/// A filter for commands that have a network of their own.
pub(crate) fn within_network() -> io::Result<BpfProgram> {
    only_families(&[LOCAL_FAMILIES, NETWORK_FAMILIES].concat())
}

/// A filter that refuses sockets of all other kinds with EPERM, and so `io_uring`, which could make them without
/// asking the filter. Programs of another architecture than this one's, whose calls have other numbers, are
/// killed by SIGSYS.
fn only_families(families: &[i32]) -> io::Result<BpfProgram> {
    let is_another = |family: i32| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = families.iter().copied().map(is_another).collect::<Result<Vec<_>, _>>();
    let to_others = conditions.and_then(SeccompRule::new).map_err(io::Error::other)?;
    let sockets = numbers(libc::SYS_socket).map(|it| (it, vec![to_others.clone()]));
    // A call without a rule is always refused.
    let rings = numbers(libc::SYS_io_uring_setup).map(|it| (it, Vec::new()));
    let rules: BTreeMap<_, _> = sockets.chain(rings).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine);
    filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
}

/// The numbers of a system call. x86-64 has each under a second one, that of its interface x32.
fn numbers(call: i64) -> impl Iterator<Item = i64> {
    const X32: i64 = 0x4000_0000;
    let second = cfg!(target_arch = "x86_64").then_some(call | X32);
    std::iter::once(call).chain(second)
}
