//! The steps of one write on systems other than Unix, using only the standard library.
//!
//! A write is atomic if the system's rename is. Before and after the temporary file is created, the
//! path is checked for links, but opening does not enforce it as on Unix. Hard links are not
//! noticed, and of the metadata only the read-only flag is respected.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use toolwright_base::path_to_text;

use super::{
    ConcurrentChanges, Expected, Stamp, WriteError, Written, stamp::Identity,
    temporary_name::slot_name,
};
use crate::path::WorkspacePath;

/// How many writers can work in one directory at once.
const SLOTS: u32 = 4096;
/// After this many free slots in a row, the search for left-over files ends.
const FREE_IN_A_ROW: u32 = 16;

struct PortableTemporaryFile {
    file: File,
    path: PathBuf,
    moved: bool,
}

impl Drop for PortableTemporaryFile {
    fn drop(&mut self) {
        if !self.moved {
            let _gone = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn write(
    place: &WorkspacePath,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Written, WriteError> {
    let path = place.absolute();
    let failed = |err| WriteError::from_io(path, err);
    let shown = || path_to_text(path).into_owned();
    let Some(parent) = path.parent().filter(|_| place.below().file_name().is_some()) else {
        return Err(WriteError::NotAFile { path: shown(), kind: "a directory" });
    };
    fs::create_dir_all(parent).map_err(failed)?;
    check_not_moved(parent).map_err(failed)?;
    look(path, expected)?;
    let mut temporary = create(parent).map_err(failed)?;
    check_not_moved(parent).map_err(failed)?;
    temporary.file.write_all(bytes).map_err(failed)?;
    temporary.file.sync_all().map_err(failed)?;
    let now = look(path, expected)?;
    check_content(path, expected, now.as_ref())?;
    if matches!(expected, Expected::Absent) {
        // Unlike a rename, this fails if the file exists by now.
        match fs::hard_link(&temporary.path, path) {
            Ok(()) => {}
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                return Err(WriteError::Exists(shown()));
            }
            Err(err) => return Err(failed(err)),
        }
    } else {
        fs::rename(&temporary.path, path).map_err(failed)?;
        temporary.moved = true;
    }
    let identity = Identity::of_file(&temporary.file).map_err(failed)?;
    Ok(Written {
        created: now.is_none(),
        in_place: None,
        not_kept: Vec::new(),
        durable: true,
        foreign: ConcurrentChanges::default(),
        stamp: Stamp::new(identity, blake3::hash(bytes)),
    })
}

pub(super) fn remove(place: &WorkspacePath, stamp: &Stamp) -> Result<(), WriteError> {
    let path = place.absolute();
    let failed = |err| WriteError::from_io(path, err);
    let expected = Expected::Unchanged(stamp);
    let now = look(path, expected)?;
    check_not_moved(path).map_err(failed)?;
    check_content(path, expected, now.as_ref())?;
    fs::remove_file(path).map_err(failed)
}

fn check_content(
    path: &Path,
    expected: Expected<'_>,
    now: Option<&Identity>,
) -> Result<(), WriteError> {
    let (Expected::Unchanged(stamp), Some(now)) = (expected, now) else { return Ok(()) };
    if stamp.is_surely(now) {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(|err| WriteError::from_io(path, err))?;
    if blake3::hash(&bytes) == stamp.content_hash() {
        return Ok(());
    }
    Err(WriteError::Changed(path_to_text(path).into_owned()))
}

fn check_not_moved(directory: &Path) -> io::Result<()> {
    if directory.canonicalize()? == directory {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the path changed while it was used"))
}

/// The current file, if there is one. Fails if the entry may not be replaced.
fn look(path: &Path, expected: Expected<'_>) -> Result<Option<Identity>, WriteError> {
    let shown = || path_to_text(path).into_owned();
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            return match expected {
                Expected::Unchanged(_) => Err(WriteError::Changed(shown())),
                Expected::Anything | Expected::Absent => Ok(None),
            };
        }
        Err(err) => return Err(WriteError::from_io(path, err)),
    };
    let identity = Identity::of_metadata(&metadata);
    if let Some(kind) = identity.kind.not_a_file() {
        return Err(WriteError::NotAFile { path: shown(), kind });
    }
    if matches!(expected, Expected::Absent) {
        return Err(WriteError::Exists(shown()));
    }
    if metadata.permissions().readonly() {
        let err = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
        return Err(WriteError::Denied(shown(), err));
    }
    Ok(Some(identity))
}

fn create(directory: &Path) -> io::Result<PortableTemporaryFile> {
    let mut found = None;
    let mut free = 0;
    for slot in 0..SLOTS {
        let path = directory.join(slot_name(slot));
        // The file of a running writer is open and locked.
        match File::options().write(true).open(&path) {
            Ok(file) => {
                free = 0;
                if matches!(file.try_lock(), Ok(())) {
                    let _gone = fs::remove_file(&path);
                }
                continue;
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => free += 1,
            Err(_) => continue,
        }
        if found.is_none() {
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => match file.try_lock() {
                    Ok(()) | Err(TryLockError::Error(_)) => {
                        found = Some(PortableTemporaryFile { file, path, moved: false });
                    }
                    Err(TryLockError::WouldBlock) => {}
                },
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                Err(err) => return Err(err),
            }
        } else if free >= FREE_IN_A_ROW {
            break;
        }
    }
    found.ok_or_else(|| io::ErrorKind::ResourceBusy.into())
}
