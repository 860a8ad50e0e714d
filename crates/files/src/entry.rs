//! Reads the entries of a directory with their kinds, without a system call for each entry.

use std::{ffi::OsStr, io, ops::ControlFlow};

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory, which a walk may enter.
    Folder,
    /// A symbolic link, whatever it points to.
    Link,
    /// A FIFO, a socket or a device. These are never opened.
    Other,
}

/// The size of the buffer for one system call.
#[cfg(target_os = "linux")]
const BUFFER_BYTES: usize = 32 * 1024;

/// The buffer into which a thread reads entries, reused for each directory.
#[derive(Debug, Default)]
pub struct EntryBuffer(#[cfg(target_os = "linux")] Vec<u8>);

/// Calls `each` for every entry except `.` and `..`, in the order of the system, until it says to stop.
#[cfg(target_os = "linux")]
pub(super) fn read_entries(
    folder: std::os::fd::BorrowedFd<'_>,
    buffer: &mut EntryBuffer,
    each: &mut dyn FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    buffer.0.reserve_exact(BUFFER_BYTES);
    let mut entries = rustix::fs::RawDir::new(folder, buffer.0.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if hand_over(folder, entry.file_name(), entry.file_type(), each).is_break() {
            break;
        }
    }
    Ok(())
}

/// The same on systems that have no call to fill a buffer of the caller.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) fn read_entries(
    folder: std::os::fd::BorrowedFd<'_>,
    _buffer: &mut EntryBuffer,
    each: &mut dyn FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        if hand_over(folder, entry.file_name(), entry.file_type(), each).is_break() {
            break;
        }
    }
    Ok(())
}

/// Calls `each` for one entry, unless it is `.` or `..`.
#[cfg(unix)]
fn hand_over(
    folder: std::os::fd::BorrowedFd<'_>,
    name: &std::ffi::CStr,
    kind: rustix::fs::FileType,
    each: &mut dyn FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> ControlFlow<()> {
    use std::os::unix::ffi::OsStrExt as _;

    if matches!(name.to_bytes(), b"." | b"..") {
        return ControlFlow::Continue(());
    }
    let kind = kind_of(kind).unwrap_or_else(|| kind_by_stat(folder, name));
    each(OsStr::from_bytes(name.to_bytes()), kind)
}

/// The same on systems without directory descriptors.
#[cfg(not(unix))]
pub(super) fn read_entries(
    folder: &std::path::Path,
    _buffer: &mut EntryBuffer,
    each: &mut dyn FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let kind = entry.file_type().map_or(EntryKind::Other, |it| {
            if it.is_symlink() {
                EntryKind::Link
            } else if it.is_dir() {
                EntryKind::Folder
            } else if it.is_file() {
                EntryKind::File
            } else {
                EntryKind::Other
            }
        });
        if each(&entry.file_name(), kind).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn kind_of(file_type: rustix::fs::FileType) -> Option<EntryKind> {
    use rustix::fs::FileType;

    match file_type {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Folder),
        FileType::Symlink => Some(EntryKind::Link),
        FileType::Unknown => None,
        _ => Some(EntryKind::Other),
    }
}

/// The kind of an entry, for file systems that do not give it in the listing.
#[cfg(unix)]
fn kind_by_stat(folder: std::os::fd::BorrowedFd<'_>, name: &std::ffi::CStr) -> EntryKind {
    rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .ok()
        .and_then(|it| kind_of(rustix::fs::FileType::from_raw_mode(it.st_mode)))
        .unwrap_or(EntryKind::Other)
}
