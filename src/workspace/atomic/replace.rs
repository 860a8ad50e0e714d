//! The steps of one write on Unix: temporary file, metadata, disk, check, rename.

use std::{ffi::OsStr, io, io::Write as _, path::Path};

use rustix::{
    fs::{Access, AtFlags, Mode, OFlags, Stat, accessat, linkat, renameat, unlinkat},
    io::Errno,
};

use super::{
    Expected, InPlace, NotKept, Stamp, WriteError, Written,
    directory::Directory,
    in_place::{self, Overwritten},
    metadata,
    stamp::Identity,
    temporary::Temporary,
};
use crate::{path_text::path_to_text, workspace::path::WorkspacePath};

/// One write that is under way.
struct Target<'a> {
    directory: &'a Directory,
    name: &'a OsStr,
    path: &'a Path,
    expected: Expected<'a>,
}

pub(super) fn write(
    place: &WorkspacePath,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Written, WriteError> {
    let (mut directory, name) = Directory::of(place)?;
    let target = Target { directory: &directory, name, path: place.absolute(), expected };
    let written = target.write(bytes);
    if written.is_err() {
        directory.remove_made();
    }
    written
}

pub(super) fn remove(place: &WorkspacePath, stamp: &Stamp) -> Result<(), WriteError> {
    let (mut directory, name) = Directory::of(place)?;
    let expected = Expected::Unchanged(stamp);
    let target = Target { directory: &directory, name, path: place.absolute(), expected };
    let removed = target.remove();
    if removed.is_err() {
        directory.remove_made();
    }
    removed
}

fn is_linked(stat: Option<&Stat>) -> bool {
    stat.is_some_and(|it| it.st_nlink > 1)
}

impl Target<'_> {
    fn remove(&self) -> Result<(), WriteError> {
        let now = self.look()?;
        self.check_content(now.as_ref())?;
        unlinkat(&self.directory.fd, self.name, AtFlags::empty())
            .map_err(|err| self.failed(err.into()))?;
        self.directory.sync();
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<Written, WriteError> {
        let old = self.look()?;
        if is_linked(old.as_ref()) {
            return self.write_in_place(bytes, InPlace::HardLinked);
        }
        // Nobody may read in the new file what the old one hid; a new one gets what the umask says.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let mut temporary =
            Temporary::create(self.directory, mode).map_err(|err| self.failed(err))?;
        temporary.file.write_all(bytes).map_err(|err| self.failed(err))?;
        let mut not_kept = self.carry_over(old.as_ref(), &temporary)?;
        temporary.file.sync_all().map_err(|err| self.failed(err))?;

        // The disk took its time, so everything is looked at again.
        let now = self.look()?;
        self.check_content(now.as_ref())?;
        if is_linked(now.as_ref()) {
            return self.write_in_place(bytes, InPlace::HardLinked);
        }
        if now.as_ref().map(Identity::of_stat) != old.as_ref().map(Identity::of_stat) {
            not_kept = self.carry_over(now.as_ref(), &temporary)?;
        }
        match self.rename(&mut temporary, now.is_some()) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(WriteError::Exists(self.shown())),
            Err(Errno::XDEV | Errno::BUSY) => {
                return self.write_in_place(bytes, InPlace::NotRenamable);
            }
            Err(err) => return Err(self.failed(err.into())),
        }
        let identity = Identity::of_file(&temporary.file).map_err(|err| self.failed(err))?;
        Ok(Written {
            created: now.is_none(),
            in_place: None,
            not_kept,
            durable: self.directory.sync(),
            stamp: Stamp::new(identity, blake3::hash(bytes)),
        })
    }

    /// Looks at what is there; refuses what may not be replaced.
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
        // A rename asks only for rights on the directory, but a read-only file is meant to stay.
        match accessat(&self.directory.fd, self.name, Access::WRITE_OK, AtFlags::EACCESS) {
            Err(err @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(self.failed(err.into())),
            Ok(()) | Err(_) => Ok(Some(stat)),
        }
    }

    /// Compares what is there with what was read, reading it again only in case of doubt.
    fn check_content(&self, now: Option<&Stat>) -> Result<(), WriteError> {
        let (Expected::Unchanged(stamp), Some(now)) = (self.expected, now) else { return Ok(()) };
        if stamp.is_surely(&Identity::of_stat(now)) {
            return Ok(());
        }
        let mut hasher = blake3::Hasher::new();
        let file = self
            .directory
            .open(self.name, OFlags::RDONLY, Mode::empty())
            .map_err(|err| self.failed(err.into()))?;
        hasher.update_reader(file).map_err(|err| self.failed(err))?;
        if hasher.finalize() == stamp.content_hash() {
            return Ok(());
        }
        Err(WriteError::Changed(self.shown()))
    }

    fn carry_over(
        &self,
        old: Option<&Stat>,
        temporary: &Temporary<'_>,
    ) -> Result<Vec<NotKept>, WriteError> {
        let Some(old) = old else { return Ok(Vec::new()) };
        let source = self.directory.open(self.name, OFlags::RDONLY, Mode::empty()).ok();
        metadata::carry_over(old, source.as_ref(), &temporary.file)
            .map_err(|err| self.failed(err.into()))
    }

    fn rename(&self, temporary: &mut Temporary<'_>, replaces: bool) -> Result<(), Errno> {
        let directory = &self.directory.fd;
        if replaces || !matches!(self.expected, Expected::Absent) {
            renameat(directory, temporary.name(), directory, self.name)?;
            temporary.moved();
            return Ok(());
        }
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(directory, temporary.name(), directory, self.name, flags) {
                // File systems that do not know the flag.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                Ok(()) => {
                    temporary.moved();
                    return Ok(());
                }
                Err(err) => return Err(err),
            }
        }
        // The temporary name stays to be removed: the file has a second one now.
        linkat(directory, temporary.name(), directory, self.name, AtFlags::empty())
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
        let done = in_place::overwrite(&mut file, bytes, |old| match self.expected {
            Expected::Anything => true,
            Expected::Absent => false,
            Expected::Unchanged(stamp) => stamp.content_hash() == blake3::hash(old),
        });
        match done.map_err(|err| self.failed(err))? {
            Overwritten::Unexpected => return Err(WriteError::Changed(self.shown())),
            Overwritten::Done => {}
        }
        let identity = Identity::of_file(&file).map_err(|err| self.failed(err))?;
        Ok(Written {
            created: false,
            in_place: Some(why),
            not_kept: Vec::new(),
            durable: true,
            stamp: Stamp::new(identity, blake3::hash(bytes)),
        })
    }

    fn shown(&self) -> String {
        path_to_text(self.path).into_owned()
    }

    fn failed(&self, err: io::Error) -> WriteError {
        WriteError::from_io(self.path, err)
    }
}
