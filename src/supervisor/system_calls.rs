//! The system calls that no safe wrapper offers. Everything unsafe of the supervisor is here.

#![expect(unsafe_code, reason = "fork, clone and signal masks have no safe interface")]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    io,
    mem::MaybeUninit,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
    ptr,
};

use rustix::process::Pid;

/// Which side of a fork this is.
pub(crate) enum Forked {
    /// The process that forked, and the id of the new one.
    Parent(i32),
    /// The new process.
    Child,
}

/// Makes a second process of this one.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the supervisor has one thread, so the child finds no lock held and may go on as usual.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent(child)),
    }
}

/// A descriptor that becomes readable when a child has ended, while [`hold_all_signals`] holds.
pub(crate) fn child_exits() -> io::Result<OwnedFd> {
    // SAFETY: the descriptor that `signalfd` gives is new and ours alone.
    unsafe {
        match libc::signalfd(-1, &signals([libc::SIGCHLD]), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Holds every signal back that can be held back, for good: whoever would end this process by a signal has
/// to use one that nobody can hold back. The end of a child waits to be read from [`child_exits`].
pub(crate) fn hold_all_signals() {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set.
    set_mask(&unsafe {
        libc::sigfillset(set.as_mut_ptr());
        set.assume_init()
    });
}

/// Lets every signal do what it usually does: what the host ignores, and who started the host, is no
/// business of commands. But for a broken pipe, which would end this process; starting a command sees
/// to that one.
pub(crate) fn ignore_nothing() {
    // The last one is the same everywhere on Linux; those that cannot be set are left alone.
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

/// A program to start, and what it starts with.
pub(crate) struct ProgramStart<'a> {
    pub(crate) program: &'a CStr,
    pub(crate) arguments: &'a [&'a CStr],
    pub(crate) environment: &'a [CString],
    /// True to share the current directory with this process from then on: where it goes, we go.
    pub(crate) shares_directory: bool,
    /// Nothing for the input of this process.
    pub(crate) input: Option<&'a OwnedFd>,
    pub(crate) output: &'a OwnedFd,
    pub(crate) errors: &'a OwnedFd,
}

/// What the new process needs between its start and its program. It shares our memory until then.
struct ChildSetup {
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    descriptors: [c_int; 3],
    error: c_int,
}

/// How much stack the new process has until its program runs: it makes a few system calls.
const STACK_BYTES: usize = 64 * 1024;

/// Starts a program in a group of its own, in the current directory.
pub(crate) fn start_program(start: &ProgramStart<'_>) -> io::Result<Pid> {
    let list = |texts: &mut dyn Iterator<Item = *const c_char>| {
        texts.chain([ptr::null()]).collect::<Vec<_>>()
    };
    let arguments = list(&mut start.arguments.iter().map(|it| it.as_ptr()));
    let environment = list(&mut start.environment.iter().map(|it| it.as_ptr()));
    let mut beginning = ChildSetup {
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
    // Of the widest type there is, so that the stack is aligned.
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let sharing = if start.shares_directory { libc::CLONE_FS } else { 0 };
    let flags = sharing | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let shared = (&raw mut beginning).cast::<c_void>();
    // SAFETY: the stack grows down from its end and is used by nobody else. CLONE_VFORK holds us until the
    // new process has its own memory or is gone, so that all it was given outlives its use.
    let child = unsafe {
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        libc::clone(begin, top, flags, shared)
    };
    if child == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: written by the new process alone, which has stopped using it.
    let error = unsafe { (&raw const beginning.error).read_volatile() };
    let child = Pid::from_raw(child).ok_or(io::ErrorKind::NotFound)?;
    if error == 0 {
        return Ok(child);
    }
    let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    Err(io::Error::from_raw_os_error(error))
}

/// What the new process does first.
extern "C" fn begin(shared: *mut c_void) -> c_int {
    let beginning = shared.cast::<ChildSetup>();
    // SAFETY: `start_program` keeps all of it until we have a program or are gone. Nothing but
    // system calls is made, and no lock is taken.
    unsafe {
        libc::setpgid(0, 0);
        for (number, descriptor) in (0..).zip((*beginning).descriptors) {
            if descriptor >= 0 && libc::dup2(descriptor, number) == -1 {
                return give_up(beginning);
            }
        }
        // Rust's runtime ignores a broken pipe, and this process holds all signals back.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        set_mask(&signals([]));
        libc::execve((*beginning).program, (*beginning).arguments, (*beginning).environment);
        give_up(beginning)
    }
}

/// Tells why there is no program.
///
/// # Safety
/// As for the caller: the memory is shared and still there.
unsafe fn give_up(beginning: *mut ChildSetup) -> c_int {
    let cause = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: see above.
    unsafe {
        (&raw mut (*beginning).error).write_volatile(cause);
        libc::_exit(127)
    }
}
