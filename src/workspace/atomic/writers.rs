//! Whether any program has a file open for writing.
//!
//! Linux tells: it gives nobody a lease to read undisturbed while somebody may write. The lease is given
//! back at once; only whether it could be had is of interest.

use std::fs::File;

/// Which signal tells that a lease is wanted back; the C library's header has it, `libc` does not.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// True when the file is open for writing somewhere; nothing where the system does not tell, as for files
/// of other users.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate in use has a safe call for leases")]
pub(super) fn is_open_for_writing(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd as _;

    let fd = file.as_raw_fd();
    // SAFETY: these commands of fcntl take a plain number and touch no memory; the descriptor is open.
    let fcntl = |command, number: libc::c_int| unsafe { libc::fcntl(fd, command, number) };
    // Should somebody open the file in the instant between, the system sends a signal. The usual one
    // would end the process; this one is ignored by all who have not asked for it.
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
            // This file system has no leases.
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
