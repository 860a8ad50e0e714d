//! Checks whether the root is still the watched directory, and what is mounted below it.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io::{self, Read as _, Seek as _},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx},
    io::Errno,
};
use toolwright_base::regular_file;
use toolwright_files::{Folder, is_local_file_system};

use super::why_cold::WhyCold;

/// How often opening is tried if something is renamed at the same time.
const TRIES: usize = 16;

/// The directory whose tree is watched.
#[derive(Debug)]
pub(super) struct WatchedRoot {
    path: Arc<Path>,
    handle: Arc<OwnedFd>,
    identity: RootIdentity,
    mounts: File,
    /// The mount points below the root, relative to it.
    mounted: BTreeSet<PathBuf>,
}

/// The identity of a directory: its inode number, and its file system and mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RootIdentity {
    inode: u64,
    device: (u32, u32),
    mount: u64,
}

impl RootIdentity {
    fn of(folder: BorrowedFd<'_>, path: &Path, flags: AtFlags) -> Result<Self, Errno> {
        let seen = statx(folder, path, flags, StatxFlags::INO | StatxFlags::MNT_ID)?;
        Ok(Self {
            inode: seen.stx_ino,
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            mount: seen.stx_mnt_id,
        })
    }
}

impl WatchedRoot {
    /// Opens a root by its path, which must not contain symbolic links.
    pub(super) fn open(path: &Path) -> Result<Self, WhyCold> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        let number = regular_file::file_system(handle.as_fd())
            .map_err(|cause| WhyCold::Failed { cause: cause.to_string() })?;
        if !is_local_file_system(number) {
            return Err(WhyCold::ForeignFileSystem { number });
        }
        let identity =
            RootIdentity::of(handle.as_fd(), Path::new(""), AtFlags::EMPTY_PATH).map_err(failed)?;
        // Opened before it is read, so that `poll` reports later mounts.
        let mounts = File::open("/proc/self/mountinfo")
            .map_err(|cause| WhyCold::Failed { cause: cause.to_string() })?;
        let (path, handle) = (path.into(), Arc::new(handle));
        let mut root = Self { path, handle, identity, mounts, mounted: BTreeSet::new() };
        root.mounted = root.read_mounts()?;
        Ok(root)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn handle(&self) -> &Arc<OwnedFd> {
        &self.handle
    }

    /// The mount points below the root, relative to it.
    pub(super) fn mounted(&self) -> &BTreeSet<PathBuf> {
        &self.mounted
    }

    /// Checks the root. Returns the paths below it where something was mounted or unmounted since
    /// the last check. Takes two system calls if nothing happened.
    pub(super) fn check(&mut self) -> Result<Vec<PathBuf>, WhyCold> {
        let now = RootIdentity::of(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW);
        if now != Ok(self.identity) {
            return Err(WhyCold::RootMoved);
        }
        let mut mounts = [PollFd::from_borrowed_fd(self.mounts.as_fd(), PollFlags::PRI)];
        let ready = poll(&mut mounts, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        if ready.is_ok_and(|it| it == 0) {
            return Ok(Vec::new());
        }
        let mounted = self.read_mounts()?;
        let before = std::mem::replace(&mut self.mounted, mounted);
        Ok(before.symmetric_difference(&self.mounted).cloned().collect())
    }

    fn read_mounts(&mut self) -> Result<BTreeSet<PathBuf>, WhyCold> {
        let mut text = Vec::new();
        let read = self.mounts.rewind().and_then(|()| self.mounts.read_to_end(&mut text));
        read.map_err(|cause: io::Error| WhyCold::Failed { cause: cause.to_string() })?;
        let points = text.split(|byte| *byte == b'\n').filter_map(|line| {
            let point = line.split(|byte| *byte == b' ').nth(4)?;
            let point = PathBuf::from(OsString::from_vec(without_escapes(point)));
            let below = point.strip_prefix(&self.path).ok()?;
            (!below.as_os_str().is_empty()).then(|| below.to_path_buf())
        });
        Ok(points.collect())
    }

    /// Opens a directory by its path below the root. Does not follow symbolic links or enter
    /// mounts.
    pub(super) fn open_folder(&self, below: &Path) -> Result<OwnedFd, Errno> {
        open_below(&self.handle, below, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)
    }

    /// An open directory below the root, in the form that the walk uses.
    pub(super) fn walked(&self, below: &Path, handle: OwnedFd) -> Folder {
        let is_root = below.as_os_str().is_empty();
        let path = if is_root { Arc::clone(&self.path) } else { self.path.join(below).into() };
        Folder::already_open(path, below.components().count(), handle)
    }

    /// Opens a path below the root only to refer to it (`O_PATH`).
    pub(super) fn open_place(&self, below: &Path) -> Result<OwnedFd, Errno> {
        open_below(&self.handle, below, OFlags::PATH | OFlags::NOFOLLOW)
    }
}

/// Opens a path below a directory, without following symbolic links or entering mounts.
pub(super) fn open_below(root: &OwnedFd, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let mut opened = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        opened = openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), within);
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    opened
}

/// An error that is not about a single entry.
pub(super) fn failed(cause: Errno) -> WhyCold {
    WhyCold::Failed { cause: io::Error::from(cause).to_string() }
}

/// Reads a number from a file of the kernel.
pub(super) fn kernel_number(path: &str) -> Option<usize> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Decodes a path from the kernel's list of mounts, in which spaces and the like are octal escapes.
fn without_escapes(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = if *first == b'\\' { after.get(..3) } else { None };
        let number = digits
            .and_then(|it| std::str::from_utf8(it).ok())
            .and_then(|it| u8::from_str_radix(it, 8).ok());
        if let Some(byte) = number {
            plain.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_mounts_are_read_without_their_escapes() {
        assert_eq!(without_escapes(br"/a\040b/c\134d\011"), b"/a b/c\\d\t");
        assert_eq!(without_escapes(br"/a\04"), br"/a\04");
    }
}
