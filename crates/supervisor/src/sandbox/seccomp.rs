//! Filters of system calls. One refuses keys, for which there is no namespace. The others close the
//! network: Landlock restricts only TCP, and in a network namespace some kinds of sockets still
//! leave it, such as `AF_VSOCK` between a virtual machine and its host.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// The number by which the kernel reports an ABI to a filter, and the first of its three system calls
/// for keys: `add_key`, `request_key` and `keyctl` are neighbours in each.
const KEY_CALLS: [(u32, u32); 4] = [
    (0xc000_003e, 248), // x86-64
    (0x4000_0003, 286), // x86 with 32 bits
    (0xc000_00b7, 217), // arm64
    (0x4000_0028, 309), // arm with 32 bits
];

/// Sockets that stay inside the machine: between processes, with the kernel, and for the kernel's
/// ciphers. All others are refused, because some of them, such as `AF_SMC`, can carry TCP.
const LOCAL_FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_ALG];

/// Sockets that stay inside a network namespace.
const NETWORK_FAMILIES: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET];

/// Refuses the system calls for keys with EPERM, in every ABI. `SeccompFilter` knows one ABI, and ends
/// programs that use another one.
pub(crate) fn without_keys() -> BpfProgram {
    const NUMBER: u32 = 0;
    const ABI: u32 = 4;
    // The bit that marks the numbers of the x32 ABI.
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, k: u32, jt: u8, jf: u8| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf,
        k,
    };
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let jump = |test, k, jt, jf| step(libc::BPF_JMP | test | libc::BPF_K, k, jt, jf);
    let end = |action| step(libc::BPF_RET | libc::BPF_K, action, 0, 0);
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let mut program: Vec<sock_filter> = KEY_CALLS
        .into_iter()
        .flat_map(|(abi, first)| {
            [
                load(ABI),
                jump(libc::BPF_JEQ, abi, 0, 6),
                load(NUMBER),
                step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, !X32, 0, 0),
                jump(libc::BPF_JGE, first, 0, 2),
                jump(libc::BPF_JGT, first + 2, 1, 0),
                end(refuse),
                end(libc::SECCOMP_RET_ALLOW),
            ]
        })
        .collect();
    program.push(end(libc::SECCOMP_RET_ALLOW));
    program
}

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
