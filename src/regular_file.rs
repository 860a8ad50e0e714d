//! The one way to open a file for reading.
//!
//! Only regular files are opened: to open a FIFO may wait for ever, to open a device may already do
//! something, and whoever plants one where a file is expected decides when. What is at a place is looked
//! at without opening it, and what was looked at is what is opened. The lowest layer: it knows no roots,
//! no rules and no policy.

use std::{fs::File, io, path::Path};

#[cfg(unix)]
use {
    rustix::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat},
        io::Errno,
    },
    std::ffi::OsStr,
};

/// Never waits, never becomes the process's terminal, is never inherited.
#[cfg(unix)]
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How an error calls files that look regular and are not.
#[cfg(target_os = "linux")]
pub(crate) const OF_THE_KERNEL: &str = "files of the kernel are not searched";

/// The kinds of file system whose files are doors into the kernel, as it numbers them: to read one can
/// wait for ever or do something. In this order: proc, sys, debug, trace, security, config, cgroup in both
/// versions, bpf, pstore, efi variables, selinux.
#[cfg(target_os = "linux")]
const KERNEL_FILE_SYSTEMS: [u64; 12] = [
    0x9fa0,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x6265_6570,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11,
    0x6165_676c,
    0xde5e_81e4,
    0xf97c_ff8c,
];

/// What is there is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is {0}, not a file")]
struct NotRegular(&'static str);

/// What is at a place instead of a regular file, with its article, where that is why it was not opened.
pub(crate) fn other_kind(cause: &io::Error) -> Option<&'static str> {
    Some(cause.get_ref()?.downcast_ref::<NotRegular>()?.0)
}

/// Opens a file by its path; links are followed. Files of the kernel are refused: whatever asks by path
/// asks for settings.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return open_at(CWD, path);
    #[cfg(not(unix))]
    open_looked_at(path)
}

/// Opens a file by its path from a directory; links are followed. Files of the kernel are refused.
#[cfg(unix)]
pub(crate) fn open_at(folder: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        let place = openat(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        refuse_kernel_files(place.as_fd())?;
        open_place(&place, || openat(folder, path, READ, Mode::empty()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let before = rustix::fs::statat(folder, path, rustix::fs::AtFlags::empty())?;
        refuse_others(&before)?;
        checked(openat(folder, path, READ, Mode::empty())?)
    }
}

/// Opens a file by its name in a directory, no link followed. For names that a listing has just called
/// regular files: this one does not look before it opens, and so costs a call less for each file.
#[cfg(unix)]
pub(crate) fn open_listed(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    checked(openat(folder, name, READ | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens a file by its path, whose last part may not be a link.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        let before = rustix::fs::lstat(path)?;
        refuse_others(&before)?;
        checked(openat(CWD, path, READ | OFlags::NOFOLLOW, Mode::empty())?)
    }
    #[cfg(not(unix))]
    open_looked_at(path)
}

/// Opens for reading what a descriptor stands for that was opened to look only. `again` opens the same
/// place with the flags given, where the system has no `/proc` to do so through.
#[cfg(target_os = "linux")]
pub(crate) fn open_place(
    place: &OwnedFd,
    again: impl FnOnce() -> Result<OwnedFd, Errno>,
) -> io::Result<File> {
    use std::os::fd::AsRawFd as _;

    let seen = fstat(place)?;
    refuse_others(&seen)?;
    match openat(CWD, format!("/proc/self/fd/{}", place.as_raw_fd()), READ, Mode::empty()) {
        Ok(file) => Ok(file.into()),
        Err(Errno::NOENT | Errno::NOTDIR) => {
            let file = again()?;
            let opened = fstat(&file)?;
            if (opened.st_dev, opened.st_ino) == (seen.st_dev, seen.st_ino) {
                return Ok(file.into());
            }
            Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the path changed while it was opened",
            ))
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The flags that [`open_place`] wants its place opened with.
#[cfg(target_os = "linux")]
pub(crate) fn reading() -> OFlags {
    READ
}

/// A file that was opened without a look before.
#[cfg(unix)]
fn checked(opened: OwnedFd) -> io::Result<File> {
    refuse_others(&fstat(&opened)?)?;
    Ok(opened.into())
}

#[cfg(unix)]
fn refuse_others(stat: &Stat) -> io::Result<()> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, NotRegular(what)))
}

/// Refuses what is in a file system of the kernel.
#[cfg(target_os = "linux")]
pub(crate) fn refuse_kernel_files(place: BorrowedFd<'_>) -> io::Result<()> {
    if is_of_the_kernel(file_system(place)?) {
        return Err(io::Error::other(OF_THE_KERNEL));
    }
    Ok(())
}

/// Whether a file system is the kernel's own.
#[cfg(target_os = "linux")]
pub(crate) fn is_of_the_kernel(file_system: u64) -> bool {
    KERNEL_FILE_SYSTEMS.contains(&file_system)
}

/// Which file system something is in.
#[cfg(target_os = "linux")]
pub(crate) fn file_system(place: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstatfs(place)?.f_type).unwrap_or(0))
}

/// The best that systems without descriptors of directories offer.
#[cfg(not(unix))]
fn open_looked_at(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, NotRegular("something else")));
    }
    File::open(path)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{
        fs,
        os::unix::{fs::symlink, net::UnixListener},
    };

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_whatever_leads_to_them() {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        symlink("file", at("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(io::read_to_string(open(&at(name)).unwrap()).unwrap(), "x");
        }
        rustix::fs::mknodat(CWD, at("fifo"), FileType::Fifo, 0o600.into(), 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink("fifo", at("to-fifo")).unwrap();
        symlink("/dev/null", at("to-device")).unwrap();
        let folder = openat(CWD, dir.path(), OFlags::RDONLY, Mode::empty()).unwrap();
        for name in ["fifo", "socket", "folder", "to-fifo", "to-device"] {
            // Opened the usual way, a FIFO would hold this thread for ever.
            assert!(other_kind(&open(&at(name)).unwrap_err()).is_some(), "{name}");
            assert!(open_at(folder.as_fd(), Path::new(name)).is_err(), "{name}");
            assert!(open_listed(folder.as_fd(), name.as_ref()).is_err(), "{name}");
        }
        assert!(open_listed(folder.as_fd(), "link".as_ref()).is_err());
        assert!(open_listed(folder.as_fd(), "file".as_ref()).is_ok());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn settings_are_never_files_of_the_kernel() {
        let dir = TempDir::new().unwrap();
        symlink("/proc/self/status", dir.path().join("link")).unwrap();
        let refused = open(&dir.path().join("link")).unwrap_err().to_string();
        assert_eq!(refused, OF_THE_KERNEL);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_proc_what_was_looked_at_is_what_is_opened() {
        let dir = TempDir::new().unwrap();
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        fs::write(&one, "one").unwrap();
        fs::write(&other, "other").unwrap();
        let again = |path: &Path| openat(CWD, path, reading(), Mode::empty());
        let seen = openat(CWD, &one, OFlags::PATH, Mode::empty()).unwrap();
        let same = |file: &OwnedFd| fstat(file).unwrap().st_ino == fstat(&seen).unwrap().st_ino;
        assert!(same(&again(&one).unwrap()) && !same(&again(&other).unwrap()));
        assert!(open_place(&seen, || again(&one)).is_ok());
    }
}
