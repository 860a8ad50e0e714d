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

/// A descriptor that becomes readable when a child has ended.
pub(crate) fn child_exits() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set that the other calls read; the descriptor that
    // `signalfd` gives is new and ours alone.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}
