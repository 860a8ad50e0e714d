//! The steps of one write on Unix: temporary file, metadata, sync, check, rename.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{Access, AtFlags, Mode, OFlags, Stat, accessat, linkat, renameat},
    io::Errno,
};
use toolwright_base::path_to_text;

use super::{
    ConcurrentChanges, Expected, InPlace, NotKept, Stamp, WriteError, Written,
    content_change::{ContentChange, content_change},
    directory::Directory,
    exchange::Exchanged,
    in_place::{self, Overwritten},
    metadata,
    stamp::Identity,
    temporary::TemporaryFile,
};
use crate::path::WorkspacePath;

/// The file of one write.
pub(super) struct WriteTarget<'a> {
    pub(super) directory: &'a Directory,
    pub(super) name: &'a OsStr,
    path: &'a Path,
    expected: Expected<'a>,
}

pub(super) fn write(
    place: &WorkspacePath,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Written, WriteError> {
    let (mut directory, name) = Directory::of(place)?;
    let target = WriteTarget { directory: &directory, name, path: place.absolute(), expected };
    let written = target.write(bytes);
    if written.is_err() {
        directory.remove_made();
    }
    written
}

pub(super) fn remove(place: &WorkspacePath, stamp: &Stamp) -> Result<(), WriteError> {
    let (mut directory, name) = Directory::of(place)?;
    let expected = Expected::Unchanged(stamp);
    let target = WriteTarget { directory: &directory, name, path: place.absolute(), expected };
    let removed = target.remove(stamp);
    if removed.is_err() {
        directory.remove_made();
    }
    removed
}

fn is_linked(stat: Option<&Stat>) -> bool {
    stat.is_some_and(|it| it.st_nlink > 1)
}

impl WriteTarget<'_> {
    fn remove(&self, stamp: &Stamp) -> Result<(), WriteError> {
        self.look()?;
        let failed = |err| self.failed(err);
        let is_same = |file: &File| matches!(content_change(file, stamp), Ok(ContentChange::Same));
        let old = self.open_old()?;
        if !is_same(&old) {
            return Err(self.changed());
        }
        // It is renamed first, so that exactly the file that was checked is removed.
        let mut temporary =
            TemporaryFile::create(self.directory, Mode::from_raw_mode(0o600)).map_err(failed)?;
        let _held_by_us_or_them = old.try_lock();
        let directory = &self.directory.fd;
        renameat(directory, self.name, directory, temporary.name())
            .map_err(|err| self.failed(err.into()))?;
        let displaced = self.directory.open(temporary.name(), OFlags::RDONLY, Mode::empty());
        if !displaced.is_ok_and(|it| is_same(&it)) {
            // A file that was created since then is newer and stays.
            if rename_to_nothing(directory, temporary.name(), self.name).is_ok() {
                temporary.moved();
            }
            return Err(self.changed());
        }
        temporary.let_go();
        self.directory.sync();
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<Written, WriteError> {
        let old = self.look()?;
        if is_linked(old.as_ref()) {
            return self.write_in_place(bytes, InPlace::HardLinked);
        }
        // A replacement starts private, so that it is never more readable than the old file. The mode of
        // a new file is determined by the umask.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let mut temporary =
            TemporaryFile::create(self.directory, mode).map_err(|err| self.failed(err))?;
        temporary.file.write_all(bytes).map_err(|err| self.failed(err))?;
        let mut not_kept = self.carry_over(old.as_ref(), &temporary)?;
        temporary.file.sync_all().map_err(|err| self.failed(err))?;

        // Writing took time, so everything is checked again.
        let now = self.look()?;
        if is_linked(now.as_ref()) {
            return self.write_in_place(bytes, InPlace::HardLinked);
        }
        if now.as_ref().map(Identity::of_stat) != old.as_ref().map(Identity::of_stat) {
            not_kept = self.carry_over(now.as_ref(), &temporary)?;
        }
        let mut foreign = ConcurrentChanges::default();
        let durable = if let Expected::Unchanged(stamp) = self.expected {
            match self.exchange(&mut temporary, stamp, bytes)? {
                Exchanged::Done { others, durable } => {
                    foreign = others;
                    durable
                }
                Exchanged::NotRenamable => {
                    return self.write_in_place(bytes, InPlace::NotRenamable);
                }
            }
        } else {
            match self.rename(&mut temporary, now.is_some()) {
                Ok(()) => {}
                Err(Errno::EXIST) => return Err(WriteError::Exists(self.shown())),
                Err(Errno::XDEV | Errno::BUSY) => {
                    return self.write_in_place(bytes, InPlace::NotRenamable);
                }
                Err(err) => return Err(self.failed(err.into())),
            }
            self.directory.sync()
        };
        let identity = Identity::of_file(&temporary.file).map_err(|err| self.failed(err))?;
        let stamp = Stamp::new(identity.with_length(bytes.len()), blake3::hash(bytes));
        Ok(Written { created: now.is_none(), in_place: None, not_kept, durable, foreign, stamp })
    }

    /// The metadata of the current file, if there is one. Fails if the entry may not be replaced.
    fn look(&self) -> Result<Option<Stat>, WriteError> {
        let Some(stat) = self.directory.stat(self.name).map_err(|err| self.failed(err))? else {
            return match self.expected {
                Expected::Unchanged(_) => Err(WriteError::Changed(self.shown())),
                Expected::Anything | Expected::Absent => Ok(None),
            };
        };
        if let Some(kind) = Identity::of_stat(&stat).kind.not_a_file() {
            return Err(WriteError::NotAFile { path: self.shown(), kind });
        }
        if matches!(self.expected, Expected::Absent) {
            return Err(WriteError::Exists(self.shown()));
        }
        // A rename only needs permission on the directory, but a read-only file is not meant to be changed.
        match accessat(&self.directory.fd, self.name, Access::WRITE_OK, AtFlags::EACCESS) {
            Err(err @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(self.failed(err.into())),
            Ok(()) | Err(_) => Ok(Some(stat)),
        }
    }

    fn carry_over(
        &self,
        old: Option<&Stat>,
        temporary: &TemporaryFile<'_>,
    ) -> Result<Vec<NotKept>, WriteError> {
        let Some(old) = old else { return Ok(Vec::new()) };
        let source = self.directory.open(self.name, OFlags::RDONLY, Mode::empty()).ok();
        metadata::carry_over(old, source.as_ref(), &temporary.file)
            .map_err(|err| self.failed(err.into()))
    }

    fn rename(&self, temporary: &mut TemporaryFile<'_>, replaces: bool) -> Result<(), Errno> {
        let directory = &self.directory.fd;
        if replaces || !matches!(self.expected, Expected::Absent) {
            renameat(directory, temporary.name(), directory, self.name)?;
            temporary.moved();
            return Ok(());
        }
        match rename_to_nothing(directory, temporary.name(), self.name) {
            Ok(()) => {
                temporary.moved();
                Ok(())
            }
            // The file has two names now, so the temporary one still has to be removed.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(directory, temporary.name(), directory, self.name, AtFlags::empty())
            }
            Err(err) => Err(err),
        }
    }

    fn write_in_place(&self, bytes: &[u8], why: InPlace) -> Result<Written, WriteError> {
        let mut file = self
            .directory
            .open(self.name, OFlags::RDWR, Mode::empty())
            .map_err(|err| self.failed(err.into()))?;
        let identity = Identity::of_file(&file).map_err(|err| self.failed(err))?;
        if let Some(kind) = identity.kind.not_a_file() {
            return Err(WriteError::NotAFile { path: self.shown(), kind });
        }
        let expected = match self.expected {
            Expected::Anything => None,
            Expected::Absent => return Err(self.changed()),
            Expected::Unchanged(stamp) => Some(stamp),
        };
        let appended = match in_place::overwrite(&mut file, bytes, expected) {
            Ok(Overwritten::Unexpected) => return Err(self.changed()),
            Ok(Overwritten::Done { appended }) => appended,
            Err(err) => return Err(self.failed(err)),
        };
        let identity = Identity::of_file(&file).map_err(|err| self.failed(err))?;
        let stamp = Stamp::new(identity.with_length(bytes.len()), blake3::hash(bytes));
        Ok(Written {
            created: false,
            in_place: Some(why),
            not_kept: Vec::new(),
            durable: true,
            foreign: ConcurrentChanges { appended, ..ConcurrentChanges::default() },
            stamp,
        })
    }

    /// The error for a file that has changed.
    pub(super) fn changed(&self) -> WriteError {
        WriteError::Changed(self.shown())
    }

    fn shown(&self) -> String {
        path_to_text(self.path).into_owned()
    }

    pub(super) fn failed(&self, err: io::Error) -> WriteError {
        WriteError::from_io(self.path, err)
    }
}

/// Renames a file unless the new name exists. Not every file system supports this.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn rename_to_nothing(
    directory: &OwnedFd,
    from: &OsStr,
    to: &OsStr,
) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn rename_to_nothing(
    _directory: &OwnedFd,
    _from: &OsStr,
    _to: &OsStr,
) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
