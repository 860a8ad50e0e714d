//! The system calls that no safe wrapper offers. Everything unsafe of the supervisor is here.

#![expect(unsafe_code, reason = "fork and signal masks have no safe interface")]

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{FromRawFd as _, OwnedFd},
};

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

/// A descriptor that becomes readable when a child has ended while [`hold_child_exits`] holds.
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

/// From here on the end of a child waits to be read from [`child_exits`]. A child that is started now
/// would hold its own children's, too, and wait for them forever.
pub(crate) fn hold_child_exits() {
    set_mask(&signals([libc::SIGCHLD]));
}

/// Holds no signal back, as a command expects to find it.
pub(crate) fn hold_nothing() {
    set_mask(&signals([]));
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
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, set, std::ptr::null_mut()) };
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
