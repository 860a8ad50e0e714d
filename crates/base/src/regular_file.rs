//! Opens files for reading. All other code uses this module for that.
//!
//! Only regular files are opened. Opening a FIFO may block for ever, opening a device may have an
//! effect, and either may be put where a file is expected. So a path is checked without opening it, and
//! exactly the checked file is opened. This is the lowest layer: it does not know about roots, rules or
//! policy.

use std::{fs::File, io, path::Path};

#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
#[cfg(unix)]
use {
    rustix::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat},
        io::Errno,
    },
    std::ffi::OsStr,
};

/// Opening never blocks, never sets the controlling terminal, and the descriptor is not inherited.
#[cfg(unix)]
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The error for kernel files, which look like regular files but are not.
#[cfg(target_os = "linux")]
pub const KERNEL_FILES_REFUSED: &str = "kernel files are not searched";

/// The numbers of file systems whose files are kernel interfaces. Reading one can block for ever or
/// have an effect. In this order: proc, sys, debug, trace, security, config, cgroup in both versions,
/// bpf, pstore, efi variables, selinux.
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

/// The error for anything but a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is {0}, not a file")]
struct NotRegular(&'static str);

/// If a file was not opened because it is not a regular file: its type, with an article.
pub fn other_kind(cause: &io::Error) -> Option<&'static str> {
    Some(cause.get_ref()?.downcast_ref::<NotRegular>()?.0)
}

/// Opens a settings file by its path. Links are followed, and kernel files are refused.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return open_at(CWD, path);
    #[cfg(not(unix))]
    open_looked_at(path)
}

/// Opens a settings file by its path relative to a directory. Links are followed, and kernel files are
/// refused.
#[cfg(unix)]
pub fn open_at(folder: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
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

/// Opens a file by its name in a directory, without following links. Only for names that a listing has
/// just reported as regular files: to save a system call, this does not check before it opens.
#[cfg(unix)]
pub fn open_listed(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    checked(openat(folder, name, READ | OFlags::NOFOLLOW, Mode::empty())?)
}

/// The same with a path relative to a directory, without following links and without leaving the file
/// system. `None` if the path cannot be resolved this way any more, or the kernel does not support it.
#[cfg(target_os = "linux")]
pub fn open_below(folder: BorrowedFd<'_>, path: &Path) -> Option<io::Result<File>> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    match openat2(folder, path, READ | OFlags::NOFOLLOW, Mode::empty(), resolve) {
        Ok(file) => Some(checked(file)),
        Err(Errno::NOENT) => Some(Err(io::ErrorKind::NotFound.into())),
        Err(Errno::XDEV) => Some(Err(io::Error::other("another file system was mounted there"))),
        Err(_) => None,
    }
}

/// Opens a file by its path, without following a link in the last component.
pub fn open_named(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        let before = rustix::fs::lstat(path)?;
        refuse_others(&before)?;
        checked(openat(CWD, path, READ | OFlags::NOFOLLOW, Mode::empty())?)
    }
    #[cfg(not(unix))]
    open_looked_at(path)
}

/// Opens the file of an `O_PATH` descriptor for reading. Without `/proc` for that, `again` opens the
/// same path with the flags of [`reading`].
#[cfg(target_os = "linux")]
pub fn open_place(
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

/// The flags with which [`open_place`] opens a path for reading.
#[cfg(target_os = "linux")]
pub fn reading() -> OFlags {
    READ
}

/// Checks a file that was opened without a previous check.
#[cfg(unix)]
pub fn checked(opened: OwnedFd) -> io::Result<File> {
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

/// Refuses a descriptor on a kernel file system.
#[cfg(target_os = "linux")]
pub fn refuse_kernel_files(place: BorrowedFd<'_>) -> io::Result<()> {
    if is_kernel_file_system(file_system(place)?) {
        return Err(io::Error::other(KERNEL_FILES_REFUSED));
    }
    Ok(())
}

/// Whether the files of a file system are kernel interfaces.
#[cfg(target_os = "linux")]
pub fn is_kernel_file_system(file_system: u64) -> bool {
    KERNEL_FILE_SYSTEMS.contains(&file_system)
}

/// The number of the file system that a descriptor is on.
#[cfg(target_os = "linux")]
pub fn file_system(place: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstatfs(place)?.f_type).unwrap_or(0))
}

/// Checks and opens a file by path, on systems without directory descriptors.
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
    fn only_regular_files_are_opened_also_through_links() {
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
            // Opening a FIFO in the usual way would block this thread for ever.
            assert!(other_kind(&open(&at(name)).unwrap_err()).is_some(), "{name}");
            assert!(open_at(folder.as_fd(), Path::new(name)).is_err(), "{name}");
            assert!(open_listed(folder.as_fd(), name.as_ref()).is_err(), "{name}");
        }
        assert!(open_listed(folder.as_fd(), "link".as_ref()).is_err());
        assert!(open_listed(folder.as_fd(), "file".as_ref()).is_ok());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn kernel_files_are_refused_as_settings() {
        let dir = TempDir::new().unwrap();
        symlink("/proc/self/status", dir.path().join("link")).unwrap();
        let refused = open(&dir.path().join("link")).unwrap_err().to_string();
        assert_eq!(refused, KERNEL_FILES_REFUSED);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_proc_exactly_the_checked_file_is_opened() {
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
