//! The directory with the output of commands that is too large for memory and answers. Only the
//! user can read it, and it is removed with the registry.
//!
//! A host that was killed cannot remove its directory. Its supervisor removes it, or without a
//! supervisor the next registry does: a directory whose lock file is not locked has no owner any
//! more.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

const PREFIX: &str = "toolwright-output-";
const LOCK: &str = ".lock";

/// The directory of output files. It is created with the first file.
#[derive(Debug)]
pub(crate) struct OutputFiles {
    planned: PathBuf,
    held: Mutex<DirectoryState>,
}

#[derive(Debug, Default)]
enum DirectoryState {
    /// No file was needed yet, so there is no directory.
    #[default]
    Nothing,
    /// The directory exists. The file is its lock, which this host holds until it exits.
    Directory(#[allow(dead_code, reason = "kept open for its lock, never read")] File),
    /// The registry is closed and the directory removed.
    Removed,
}

impl OutputFiles {
    /// Chooses a name in the directory for temporary files. Nothing is created yet.
    pub(crate) fn below(temporary: &Path) -> Self {
        // The time distinguishes registries of one process, and processes that had the same id.
        let moment = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |it| it.as_nanos());
        let name = format!("{PREFIX}{}-{moment:x}", std::process::id());
        Self { planned: temporary.join(name), held: Mutex::default() }
    }

    /// The path of the directory, whether or not it exists yet.
    pub(crate) fn directory(&self) -> &Path {
        &self.planned
    }

    /// Creates a file with this name. Returns the file and its path.
    pub(crate) fn create(&self, name: &str) -> io::Result<(File, PathBuf)> {
        self.make_directory()?;
        let path = self.planned.join(name);
        let file = private(File::options().read(true).write(true).create_new(true)).open(&path)?;
        Ok((file, path))
    }

    /// Creates the directory if it does not exist, and removes the directories of hosts that were
    /// killed.
    fn make_directory(&self) -> io::Result<()> {
        let mut held = self.held.lock();
        match *held {
            DirectoryState::Directory(_) => return Ok(()),
            DirectoryState::Removed => return Err(io::Error::other("the registry is closed")),
            DirectoryState::Nothing => {}
        }
        if let Some(temporary) = self.planned.parent() {
            remove_strays(temporary);
        }
        make_private_directory(&self.planned)?;
        let lock =
            private(File::options().write(true).create_new(true)).open(self.planned.join(LOCK))?;
        if !lock_now(&lock) {
            return Err(io::Error::other("the lock of the output directory cannot be taken"));
        }
        *held = DirectoryState::Directory(lock);
        Ok(())
    }

    /// Removes the directory with all files. No file can be created afterwards.
    pub(crate) fn remove(&self) {
        let mut held = self.held.lock();
        if let DirectoryState::Directory(_) = std::mem::replace(&mut *held, DirectoryState::Removed)
        {
            // If this fails, the next registry removes the directory.
            let _ = fs::remove_dir_all(&self.planned);
        }
    }
}

impl Drop for OutputFiles {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes the directories of hosts that were killed, whose lock files are not locked.
fn remove_strays(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Another host may be creating a directory that has no lock file yet.
        let Ok(lock) = File::options().write(true).open(path.join(LOCK)) else { continue };
        if lock_now(&lock) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(unix)]
fn lock_now(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(unix)]
fn private(options: &mut fs::OpenOptions) -> &fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(unix)]
fn make_private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn lock_now(file: &File) -> bool {
    file.try_lock().is_ok()
}

#[cfg(not(unix))]
fn private(options: &mut fs::OpenOptions) -> &fs::OpenOptions {
    options
}

#[cfg(not(unix))]
fn make_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn files_are_private_and_removed_with_their_owner() {
        let temporary = TempDir::new().unwrap();
        let files = OutputFiles::below(temporary.path());
        assert!(!files.directory().exists());
        let (_file, path) = files.create("a.txt").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(files.directory()), mode(&path)), (0o700, 0o600));
        drop(files);
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }

    #[test]
    fn directories_of_dead_hosts_are_removed_and_of_living_ones_kept() {
        let temporary = TempDir::new().unwrap();
        let stray = temporary.path().join(format!("{PREFIX}1-0-0"));
        fs::create_dir(&stray).unwrap();
        fs::write(stray.join(LOCK), "").unwrap();
        fs::write(stray.join("task_1.txt"), "x").unwrap();
        let living = OutputFiles::below(temporary.path());
        living.create("a.txt").unwrap();
        assert!(!stray.exists());
        let other = OutputFiles::below(temporary.path());
        other.create("a.txt").unwrap();
        assert!(living.directory().join("a.txt").exists());
        living.remove();
        assert!(living.create("b.txt").is_err());
    }
}
