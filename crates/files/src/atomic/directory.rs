//! The directory of the file that is written, held by descriptor.
//!
//! It is opened name by name, starting at the root, without following links. For a path without
//! `..` this is the same as `openat2` with `BENEATH` and `NO_SYMLINKS`, but it works on every Unix
//! and under seccomp filters that forbid that call. Missing directories have to be created one by
//! one anyway.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::fd::OwnedFd,
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, Stat, fstat, mkdirat, openat, statat, unlinkat},
    io::Errno,
};
use toolwright_base::{name_to_text, path_to_text};

use super::{
    WriteError,
    stamp::{FileKind, Identity},
};
use crate::path::{PASS, WorkspacePath};

/// The open directory of a file that exists or will be created.
pub(super) struct Directory {
    pub(super) fd: OwnedFd,
    /// The directories that were created on the way.
    made: Vec<MadeDirectory>,
}

/// A directory that was created for this write.
struct MadeDirectory {
    /// The directory in which it was created.
    parent: OwnedFd,
    name: OsString,
    identity: Identity,
}

impl Directory {
    /// Opens the directory of a file, creating missing directories. Also returns the file's name.
    pub(super) fn of(place: &WorkspacePath) -> Result<(Self, &OsStr), WriteError> {
        let path = place.absolute();
        let failed = |err: Errno| WriteError::from_io(path, err.into());
        let root = place.open_root().map_err(failed)?;
        let Some(name) = place.below().file_name() else {
            return Err(WriteError::NotAFile {
                path: path_to_text(path).into_owned(),
                kind: "a directory",
            });
        };
        let mut directory = Self { fd: root, made: Vec::new() };
        for part in place.below().parent().into_iter().flat_map(|it| it.iter()) {
            if let Err(err) = directory.enter(part) {
                let error = directory.explain(part, err, place);
                directory.remove_made();
                return Err(error);
            }
        }
        Ok((directory, name))
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), Errno> {
        let flags = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |fd: &OwnedFd| openat(fd, name, flags, Mode::empty());
        match open(&self.fd) {
            Ok(next) => self.fd = next,
            Err(Errno::NOENT) => {
                let made = match mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => true,
                    // Another process created it in the meantime.
                    Err(Errno::EXIST) => false,
                    Err(err) => return Err(err),
                };
                let next = open(&self.fd)?;
                let parent = std::mem::replace(&mut self.fd, next);
                if made {
                    sync(&parent);
                    let identity = Identity::of_stat(&fstat(&self.fd)?);
                    self.made.push(MadeDirectory { parent, name: name.to_owned(), identity });
                }
            }
            Err(err) => return Err(err),
        }
        Ok(())
    }

    fn explain(&self, part: &OsStr, err: Errno, place: &WorkspacePath) -> WriteError {
        if matches!(err, Errno::NOTDIR | Errno::LOOP | Errno::MLINK) {
            let kind = match self.stat(part) {
                Ok(Some(stat)) => Identity::of_stat(&stat).kind,
                Ok(None) | Err(_) => FileKind::Link,
            };
            return WriteError::NotADirectory {
                path: path_to_text(place.absolute()).into_owned(),
                part: name_to_text(part).into_owned(),
                kind: kind.not_a_file().unwrap_or("a file"),
            };
        }
        WriteError::from_io(place.absolute(), err.into())
    }

    /// The metadata of an entry, without following links. `None` if there is none.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// Opens a file in the directory. Never blocks on a FIFO and never follows a link.
    pub(super) fn open(&self, name: &OsStr, access: OFlags, mode: Mode) -> Result<File, Errno> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&self.fd, name, flags, mode).map(File::from)
    }

    /// All entries of the directory.
    pub(super) fn entries(&self) -> Result<Dir, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Dir::new(openat(&self.fd, ".", flags, Mode::empty())?)
    }

    /// Removes an entry. It does not matter if it does not exist any more.
    pub(super) fn remove(&self, name: &OsStr) {
        let _gone = unlinkat(&self.fd, name, AtFlags::empty());
    }

    /// Syncs the directory's entries to disk. Returns whether that succeeded.
    pub(super) fn sync(&self) -> bool {
        sync(&self.fd)
    }

    /// Removes the directories that were created for a write that failed, unless they are in use or have
    /// been replaced.
    pub(super) fn remove_made(&mut self) {
        while let Some(MadeDirectory { parent, name, identity }) = self.made.pop() {
            let there = statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW);
            if there.is_ok_and(|it| Identity::of_stat(&it).is_same_file(&identity)) {
                let _kept_if_in_use = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
            }
        }
    }
}

fn sync(fd: &OwnedFd) -> bool {
    // A descriptor that was opened with `O_PATH` cannot be synced, so the directory is opened again.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(fd, ".", flags, Mode::empty()).and_then(rustix::fs::fsync).is_ok()
}
