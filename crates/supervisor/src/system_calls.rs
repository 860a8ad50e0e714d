//! System calls that have no safe wrapper. All unsafe code of the supervisor is in this file.

#![expect(unsafe_code, reason = "fork, clone and signal masks have no safe interface")]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long, c_void},
    io,
    mem::MaybeUninit,
    os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd},
    ptr,
};

use rustix::process::Pid;

use crate::sandbox::Restrictions;

/// The side of a fork that a process is on.
pub(crate) enum Forked {
    /// The process that forked, and the id of the new one.
    Parent(i32),
    /// The new process.
    Child,
}

/// Forks this process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the supervisor has one thread, so no lock is held in the child and it may continue as
    // usual.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent(child)),
    }
}

/// Memory that this process shares with all its later forks. It exists until the last of them ends.
pub(crate) fn shared_with_forks<T: Default + Sync>() -> io::Result<&'static T> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel chooses an unused address at the start of a page, so it is aligned for
    // every type. It is initialised before any other code has a reference to it, and never
    // unmapped.
    unsafe {
        let address = libc::mmap(ptr::null_mut(), size_of::<T>(), access, kind, -1, 0);
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let address = address.cast::<T>();
        address.write(T::default());
        Ok(&*address)
    }
}

/// The scheduling policy and the I/O priority of this process, as numbers.
pub(crate) fn scheduling() -> [i64; 2] {
    const OF_PROCESS: c_int = 1;
    const OF_THIS: c_int = 0;
    // SAFETY: both calls take only numbers.
    unsafe {
        [
            i64::from(libc::sched_getscheduler(OF_THIS)),
            libc::syscall(libc::SYS_ioprio_get, OF_PROCESS, OF_THIS),
        ]
    }
}

/// Ends this process without running any exit handlers.
pub(crate) fn exit_at_once() -> ! {
    // SAFETY: always sound. Nothing of this process is used afterwards.
    unsafe { libc::_exit(0) }
}

/// Forks this process into new user, mount, PID, IPC and control group namespaces, where it is PID 1.
pub(crate) fn fork_into_namespaces() -> io::Result<Forked> {
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWCGROUP;
    let flags = namespaces | libc::SIGCHLD;
    let none: c_long = 0;
    // SAFETY: no stack is passed, so the new process continues with a copy of this one, as after a
    // fork. The supervisor has one thread, so no lock is held.
    match unsafe { libc::syscall(libc::SYS_clone, c_long::from(flags), none, none, none, none) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        child => i32::try_from(child).map(Forked::Parent).map_err(io::Error::other),
    }
}

/// Closes every descriptor except the standard streams and `kept`. The owners of the others must
/// not be used again.
pub(crate) fn close_all_but(kept: &OwnedFd) {
    let kept = kept.as_raw_fd().cast_unsigned();
    let first = 3;
    for (from, to) in [(first, kept.saturating_sub(1)), (kept.saturating_add(1), u32::MAX)] {
        if from <= to {
            // SAFETY: the caller uses none of them any more. A kernel without this call leaves them
            // open until a program is executed, which closes them.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    }
}

/// The attributes of a mount to change.
#[derive(Clone, Copy, Default)]
pub(crate) struct MountAttributes {
    /// The `MOUNT_ATTR_` bits to set.
    pub(crate) set: u64,
    /// The `MOUNT_ATTR_` bits to clear.
    pub(crate) clear: u64,
    /// True to change all mounts below it as well.
    pub(crate) is_recursive: bool,
}

/// Changes the attributes of the mount that a descriptor refers to, or of the mount at `path` below
/// it.
pub(crate) fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    path: &CStr,
    attributes: MountAttributes,
) -> io::Result<()> {
    let change = libc::mount_attr {
        attr_set: attributes.set,
        attr_clr: attributes.clear,
        propagation: 0,
        userns_fd: 0,
    };
    let recursive = if attributes.is_recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends with a NUL, and the structure has the size that is given.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            path.as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if changed == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Moves this process into a new network.
pub(crate) fn leave_network() -> io::Result<()> {
    // SAFETY: no memory is passed, and this process has one thread.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives this process an empty session keyring. Has no effect if the kernel refuses that.
pub(crate) fn join_new_keyring() {
    const JOIN_SESSION_KEYRING: c_long = 1;
    let unnamed = ptr::null::<c_char>();
    // SAFETY: a null pointer asks for a keyring without a name.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, unnamed) };
}

/// The version of Landlock that the kernel has.
pub(crate) fn landlock_version() -> io::Result<u32> {
    const ASK_FOR_VERSION: c_long = 1;
    let nothing = ptr::null::<c_void>();
    // SAFETY: the kernel reads nothing through the pointer when it is asked for the version.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_FOR_VERSION)
    };
    u32::try_from(version).map_err(|_| io::Error::last_os_error())
}

/// Restricts this process by Landlock's rules. `no_new_privs` must be set.
pub(crate) fn restrict_by_landlock(rules: &OwnedFd) -> io::Result<()> {
    let no_flags: c_long = 0;
    // SAFETY: the descriptor is open, and nothing else is passed.
    let done =
        unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), no_flags) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor that becomes readable when a child has ended. Requires [`block_all_signals`].
pub(crate) fn child_exits() -> io::Result<OwnedFd> {
    // SAFETY: `signalfd` returns a new descriptor that nothing else owns.
    unsafe {
        match libc::signalfd(-1, &signals([libc::SIGCHLD]), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Blocks all signals that can be blocked, for good, so that only SIGKILL and SIGSTOP affect this process.
/// SIGCHLD is read from [`child_exits`] instead.
pub(crate) fn block_all_signals() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set.
    set_mask(&unsafe {
        libc::sigfillset(set.as_mut_ptr());
        set.assume_init()
    });
}

/// Resets every signal to its default action. Commands inherit ignored signals, and the host's
/// choice should not affect them. SIGPIPE stays ignored, because it would end this process.
/// [`start_program`] resets it for the command.
pub(crate) fn reset_signals() {
    // 64 is the highest signal on every Linux. Signals that cannot be reset are left as they are.
    for signal in (1..=64).filter(|it| *it != libc::SIGPIPE) {
        // SAFETY: no handler is set, only the default.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

fn set_mask(set: &libc::sigset_t) {
    // SAFETY: the set is initialised. The call can only fail for a request that does not exist.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, set, ptr::null_mut()) };
}

fn signals<const COUNT: usize>(wanted: [i32; COUNT]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in wanted {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// A program to start, with its arguments, environment and descriptors.
pub(crate) struct ProgramStart<'a> {
    pub(crate) program: &'a CStr,
    pub(crate) arguments: &'a [&'a CStr],
    pub(crate) environment: &'a [CString],
    /// True to share the current directory with this process: a `chdir` of the program changes both.
    pub(crate) shares_directory: bool,
    /// None to inherit the input of this process.
    pub(crate) input: Option<&'a OwnedFd>,
    pub(crate) output: &'a OwnedFd,
    pub(crate) errors: &'a OwnedFd,
    /// The restrictions that the new process applies to itself first.
    pub(crate) restrictions: &'a Restrictions,
}

/// The data that the new process needs until it executes its program. Until then it shares the
/// memory of this process.
struct ChildSetup {
    restrictions: *const Restrictions,
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    descriptors: [c_int; 3],
    error: c_int,
}

/// The stack of the new process until its program runs. It only makes a few system calls.
const STACK_BYTES: usize = 64 * 1024;

/// Starts a program in its own process group, in the current directory.
pub(crate) fn start_program(start: &ProgramStart<'_>) -> io::Result<Pid> {
    let list = |texts: &mut dyn Iterator<Item = *const c_char>| {
        texts.chain([ptr::null()]).collect::<Vec<_>>()
    };
    let arguments = list(&mut start.arguments.iter().map(|it| it.as_ptr()));
    let environment = list(&mut start.environment.iter().map(|it| it.as_ptr()));
    let mut setup = ChildSetup {
        restrictions: start.restrictions,
        program: start.program.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        descriptors: [
            start.input.map_or(-1, std::os::fd::AsRawFd::as_raw_fd),
            start.output.as_raw_fd(),
            start.errors.as_raw_fd(),
        ],
        error: 0,
    };
    // The widest integer type, so that the stack is aligned.
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let sharing = if start.shares_directory { libc::CLONE_FS } else { 0 };
    let flags = sharing | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let shared = (&raw mut setup).cast::<c_void>();
    // SAFETY: the stack grows down from its end, and only the new process uses it. CLONE_VFORK suspends this
    // process until the new one has its own memory or has exited, so everything it uses lives long enough.
    let child = unsafe {
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        libc::clone(run_child, top, flags, shared)
    };
    if child == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: only the new process wrote to it, and no longer uses it.
    let error = unsafe { (&raw const setup.error).read_volatile() };
    let child = Pid::from_raw(child).ok_or(io::ErrorKind::NotFound)?;
    if error == 0 {
        return Ok(child);
    }
    let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    Err(io::Error::from_raw_os_error(error))
}

/// Runs in the new process: sets up descriptors and signals, then runs the program.
extern "C" fn run_child(shared: *mut c_void) -> c_int {
    let setup = shared.cast::<ChildSetup>();
    // SAFETY: `start_program` keeps all of it alive until this process executes its program or has
    // exited. Only system calls are made, and no lock is taken.
    unsafe {
        libc::setpgid(0, 0);
        for (number, descriptor) in (0..).zip((*setup).descriptors) {
            if descriptor >= 0 && libc::dup2(descriptor, number) == -1 {
                return report_and_exit(setup, &io::Error::last_os_error());
            }
        }
        if let Err(error) = (*(*setup).restrictions).apply() {
            return report_and_exit(setup, &error);
        }
        // Rust's runtime ignores SIGPIPE, and the supervisor blocks all signals.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        set_mask(&signals([]));
        libc::execve((*setup).program, (*setup).arguments, (*setup).environment);
        report_and_exit(setup, &io::Error::last_os_error())
    }
}

/// Reports why the program could not be run, and exits.
///
/// # Safety
/// `setup` must point to the memory that `start_program` shares.
unsafe fn report_and_exit(setup: *mut ChildSetup, error: &io::Error) -> c_int {
    let cause = error.raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: the caller guarantees that the memory is there.
    unsafe {
        (&raw mut (*setup).error).write_volatile(cause);
        libc::_exit(127)
    }
}
