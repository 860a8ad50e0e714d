//! Checks whether any program has a file open for writing.
//!
//! On Linux, a read lease can only be taken if no program has the file open for writing. The lease
//! is only a test, so it is released at once.

use std::fs::File;

/// Sets the signal that is sent when another program wants to break a lease. `libc` does not define it.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// Whether any program has the file open for writing. `None` if the system does not allow the
/// check, as for files of other users.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate in use has a safe call for leases")]
pub(super) fn is_open_for_writing(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd as _;

    let fd = file.as_raw_fd();
    // SAFETY: these commands of fcntl take a plain number and touch no memory; the descriptor is open.
    let fcntl = |command, number: libc::c_int| unsafe { libc::fcntl(fd, command, number) };
    // If a program opens the file while the lease is held, the system sends a signal. The default one
    // would end the process; this one is ignored unless a handler is installed.
    if fcntl(F_SETSIG, libc::SIGURG) != 0 {
        return None;
    }
    if fcntl(libc::F_SETLEASE, libc::F_RDLCK) == 0 {
        fcntl(libc::F_SETLEASE, libc::F_UNLCK);
        return Some(false);
    }
    let cause = std::io::Error::last_os_error();
    (cause.kind() == std::io::ErrorKind::WouldBlock).then_some(true)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_open_for_writing(_file: &File) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_for_writing_until_the_last_writer_has_closed_it() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("file");
        let writer = File::create(&path).unwrap();
        let reader = File::open(&path).unwrap();
        if is_open_for_writing(&reader).is_none() {
            // This file system does not support leases.
            return;
        }
        assert_eq!(is_open_for_writing(&reader), Some(true));
        let copy = writer.try_clone().unwrap();
        drop(writer);
        assert_eq!(is_open_for_writing(&reader), Some(true));
        drop(copy);
        assert_eq!(is_open_for_writing(&reader), Some(false));
        assert_eq!(is_open_for_writing(&reader), Some(false));
    }
}
