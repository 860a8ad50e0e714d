//! Lets the editors of one file take turns, so that none works on content another is replacing.
//!
//! In one process they go in order of arrival. Across processes of one user the system's file
//! lock decides, held on an empty file in a directory outside every repository; it ends with its
//! process, however that ends. Knows nothing of what is done with the file meanwhile.

use std::{
    collections::{HashMap, VecDeque},
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long one editor waits for the others unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a waiting editor asks whether it was cancelled.
const ATTENTION: Duration = Duration::from_millis(10);

/// Why a file could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The caller has given up.
    #[error("waiting for other edits of `{0}` was cancelled")]
    Cancelled(String),
    /// Another editor has held the file for too long.
    #[error("`{path}` is being edited by {holder} for more than {seconds} s; try again later")]
    Busy {
        /// The file.
        path: String,
        /// Who holds it.
        holder: &'static str,
        /// How long this editor has waited.
        seconds: u64,
    },
    /// The directory for locks belongs to somebody else or is open to them.
    #[error("lock directory `{0}` cannot be trusted: {1}; remove it")]
    Untrusted(String, &'static str),
    /// The system failed to lock.
    #[error("`{0}` cannot be locked: {1}")]
    Failed(String, #[source] io::Error),
}

/// The queues of editors, shared by everything that writes files in a process.
#[derive(Clone, Debug)]
pub struct FileLocks {
    queues: Arc<Queues>,
    directory: Arc<Path>,
    patience: Duration,
}

/// The right to edit one file, until it is dropped.
#[derive(Debug)]
#[must_use = "the file is locked only as long as the guard lives"]
pub struct FileGuard {
    // Fields are dropped in this order: other processes first, then the next editor here.
    _linked: Option<LockFile>,
    _across_processes: LockFile,
    _turn: Turn,
}

/// A place in the queue for one file; dropping it leaves the queue.
#[derive(Debug)]
#[must_use = "the place in the queue is given up when this is dropped"]
pub struct Turn {
    locks: FileLocks,
    path: PathBuf,
    ticket: u64,
}

#[derive(Debug, Default)]
struct Queues {
    waiting: Mutex<Waiting>,
    moved_up: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    last_ticket: u64,
    by_path: HashMap<PathBuf, VecDeque<u64>>,
}

impl Default for FileLocks {
    /// Locks that hold among all processes of the current user.
    fn default() -> Self {
        Self::in_directory(&shared_directory())
    }
}

impl FileLocks {
    /// Locks that hold among the processes that use the same directory for them.
    pub fn in_directory(directory: &Path) -> Self {
        Self { queues: Arc::default(), directory: directory.into(), patience: PATIENCE }
    }

    /// The same queues for an editor that waits so long and no longer.
    #[must_use]
    pub fn waiting_at_most(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    /// Waits for the turn to edit a file, given by its absolute path without links.
    pub fn acquire(
        &self,
        path: &Path,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileGuard, LockError> {
        self.queue_up(path).wait(cancelled)
    }

    /// Takes the next place in the queue without waiting, so that a caller can fix the order of
    /// edits before it hands them to threads.
    pub fn queue_up(&self, path: &Path) -> Turn {
        let mut waiting = self.queues.lock();
        waiting.last_ticket += 1;
        let ticket = waiting.last_ticket;
        waiting.by_path.entry(path.to_owned()).or_default().push_back(ticket);
        Turn { locks: self.clone(), path: path.to_owned(), ticket }
    }
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every change under the lock is a single step, so a panic elsewhere leaves it whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until every earlier editor of the file is done, here and in other processes.
    pub fn wait(self, cancelled: &dyn Fn() -> bool) -> Result<FileGuard, LockError> {
        let patience = Patience {
            path: &self.path,
            cancelled,
            started: Instant::now(),
            longest: self.locks.patience,
        };
        self.wait_for_front(&patience)?;
        let directory = &self.locks.directory;
        make_private(directory)?;
        let name = blake3::hash(self.path.as_os_str().as_encoded_bytes()).to_hex();
        let across_processes = LockFile::acquire(directory, &name, &patience)?;
        // Names of one file are edited in place, so they take turns with each other too. Who
        // waits for this second lock holds a first one that nobody with the second waits for.
        let linked = match linked_identity(&self.path) {
            Some(identity) => Some(LockFile::acquire(directory, &identity, &patience)?),
            None => None,
        };
        Ok(FileGuard { _linked: linked, _across_processes: across_processes, _turn: self })
    }

    fn wait_for_front(&self, patience: &Patience<'_>) -> Result<(), LockError> {
        let mut waiting = self.locks.queues.lock();
        loop {
            let front = waiting.by_path.get(&self.path).and_then(VecDeque::front);
            if front == Some(&self.ticket) {
                return Ok(());
            }
            drop(waiting);
            patience.check("another call")?;
            waiting = self.locks.queues.lock();
            let front = waiting.by_path.get(&self.path).and_then(VecDeque::front);
            if front != Some(&self.ticket) {
                let woken = self.locks.queues.moved_up.wait_timeout(waiting, ATTENTION);
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut waiting = self.locks.queues.lock();
        if let Some(queue) = waiting.by_path.get_mut(&self.path) {
            queue.retain(|&ticket| ticket != self.ticket);
            if queue.is_empty() {
                waiting.by_path.remove(&self.path);
            }
        }
        drop(waiting);
        self.locks.queues.moved_up.notify_all();
    }
}

/// How long an editor still waits.
struct Patience<'a> {
    path: &'a Path,
    cancelled: &'a dyn Fn() -> bool,
    started: Instant,
    longest: Duration,
}

impl Patience<'_> {
    fn check(&self, holder: &'static str) -> Result<(), LockError> {
        let path = || self.path.display().to_string();
        if (self.cancelled)() {
            return Err(LockError::Cancelled(path()));
        }
        if self.started.elapsed() >= self.longest {
            let seconds = self.longest.as_secs();
            return Err(LockError::Busy { path: path(), holder, seconds });
        }
        Ok(())
    }

    /// Lets another process go on; brief at first, since an edit takes milliseconds.
    fn pause(&self) {
        let waited = self.started.elapsed();
        thread::sleep((waited / 16).clamp(Duration::from_micros(200), ATTENTION));
    }
}

/// A locked file that is removed when it is released, so that none pile up.
#[derive(Debug)]
struct LockFile {
    _locked: File,
    path: PathBuf,
}

impl LockFile {
    fn acquire(directory: &Path, name: &str, patience: &Patience<'_>) -> Result<Self, LockError> {
        // Who waits at the door keeps the process that just left from being first again.
        let door = Self::lock(&directory.join(format!("{name}.next")), patience)?;
        let locked = Self::lock(&directory.join(name), patience);
        drop(door);
        locked
    }

    fn lock(path: &Path, patience: &Patience<'_>) -> Result<Self, LockError> {
        let failed = |err| LockError::Failed(patience.path.display().to_string(), err);
        loop {
            let file = match open(path) {
                Ok(file) => file,
                // A cleaner of temporary files took the whole directory.
                Err(err) if err.kind() == io::ErrorKind::NotFound => {
                    patience.check("a cleaner of temporary files")?;
                    path.parent().map_or(Ok(()), make_private)?;
                    continue;
                }
                Err(err) => return Err(failed(err)),
            };
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) => {
                        patience.check("another process")?;
                        patience.pause();
                    }
                    Err(TryLockError::Error(err)) => return Err(failed(err)),
                }
            }
            // The one before may have removed it; then the lock is on a file nobody else finds.
            if is_at(&file, path) {
                return Ok(Self { _locked: file, path: path.to_owned() });
            }
            patience.check("other processes")?;
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // While still locked: afterwards it could be somebody else's.
        if cfg!(unix) {
            let _gone = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |it: fs::Metadata| (it.dev(), it.ino());
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(locked), Ok(found)) => identity(locked) == identity(found),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    // Lock files are not removed there.
    true
}

#[cfg(unix)]
fn linked_identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.symlink_metadata().ok()?;
    let linked = metadata.is_file() && metadata.nlink() > 1;
    linked.then(|| format!("{:x}-{:x}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn linked_identity(_path: &Path) -> Option<String> {
    None
}

/// The directory in which all processes of the user meet.
#[cfg(unix)]
fn shared_directory() -> PathBuf {
    use rustix::fs::{Access, access};
    let user = rustix::process::geteuid().as_raw();
    // Not by `TMPDIR` or `XDG_RUNTIME_DIR`: processes that differ in them would not meet.
    let writable = ["/tmp", "/var/tmp", "/dev/shm"]
        .into_iter()
        .find(|base| access(*base, Access::WRITE_OK | Access::EXEC_OK).is_ok());
    Path::new(writable.unwrap_or("/tmp")).join(format!("toolwright-locks-{user}"))
}

#[cfg(not(unix))]
fn shared_directory() -> PathBuf {
    std::env::temp_dir().join("toolwright-locks")
}

/// Makes the directory for locks, or makes sure that nobody else can meddle in it.
#[cfg(unix)]
fn make_private(directory: &Path) -> Result<(), LockError> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let shown = || directory.display().to_string();
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists => {
            return Err(LockError::Failed(shown(), err));
        }
        Ok(()) | Err(_) => {}
    }
    let found = match directory.symlink_metadata() {
        Ok(found) => found,
        Err(err) => return Err(LockError::Failed(shown(), err)),
    };
    let reason = if !found.is_dir() {
        "it is no directory"
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user"
    } else if found.mode() & 0o022 != 0 {
        "others can write into it"
    } else {
        return Ok(());
    };
    Err(LockError::Untrusted(shown(), reason))
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> Result<(), LockError> {
    // The temporary directory is the user's own there.
    fs::create_dir_all(directory)
        .map_err(|err| LockError::Failed(directory.display().to_string(), err))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    };

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn locks() -> (TempDir, FileLocks) {
        let dir = TempDir::new().unwrap();
        let locks = FileLocks::in_directory(&dir.path().join("locks"));
        (dir, locks)
    }

    const FILE: &str = "/repo/file";

    fn never() -> bool {
        false
    }

    #[test]
    fn editors_go_in_the_order_in_which_they_queued_up() {
        let (_dir, locks) = locks();
        let (done, order) = mpsc::channel();
        let turns: Vec<_> = (0..64).map(|it| (it, locks.queue_up(Path::new(FILE)))).collect();
        thread::scope(|scope| {
            // The last comes first to the scheduler.
            for (number, turn) in turns.into_iter().rev() {
                let done = done.clone();
                scope.spawn(move || {
                    let _guard = turn.wait(&never).unwrap();
                    done.send(number).unwrap();
                });
            }
        });
        drop(done);
        assert_eq!(order.iter().collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        assert!(locks.queues.lock().by_path.is_empty());
    }

    #[test]
    fn different_files_do_not_wait_for_each_other() {
        let (_dir, locks) = locks();
        let _one = locks.acquire(Path::new("/repo/one"), &never).unwrap();
        let _other = locks.acquire(Path::new("/repo/other"), &never).unwrap();
    }

    #[test]
    fn who_is_cancelled_or_out_of_patience_leaves_the_queue_to_those_behind() {
        let (_dir, locks) = locks();
        let first = locks.acquire(Path::new(FILE), &never).unwrap();
        let impatient = locks.waiting_at_most(Duration::from_millis(20));
        let busy = impatient.acquire(Path::new(FILE), &never).unwrap_err();
        assert!(matches!(busy, LockError::Busy { holder: "another call", .. }), "{busy:?}");
        let cancelled = AtomicBool::new(false);
        let second = locks.queue_up(Path::new(FILE));
        let third = locks.queue_up(Path::new(FILE));
        thread::scope(|scope| {
            let second =
                scope.spawn(|| second.wait(&|| cancelled.load(Ordering::Relaxed)).map(drop));
            let third = scope.spawn(|| third.wait(&never).map(drop));
            cancelled.store(true, Ordering::Relaxed);
            let gave_up = second.join().unwrap();
            assert!(matches!(gave_up, Err(LockError::Cancelled(_))), "{gave_up:?}");
            drop(first);
            third.join().unwrap().unwrap();
        });
        assert!(locks.queues.lock().by_path.is_empty());
    }

    #[test]
    fn two_registries_in_one_process_exclude_each_other_too() {
        let (dir, locks) = locks();
        let other = FileLocks::in_directory(&dir.path().join("locks"));
        let guard = locks.acquire(Path::new(FILE), &never).unwrap();
        let other = other.waiting_at_most(Duration::from_millis(20));
        assert!(matches!(other.acquire(Path::new(FILE), &never), Err(LockError::Busy { .. })));
        drop(guard);
        drop(other.acquire(Path::new(FILE), &never).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn lock_files_are_gone_when_nobody_uses_them_and_the_directory_is_private() {
        use std::os::unix::fs::MetadataExt as _;
        let (dir, locks) = locks();
        let directory = dir.path().join("locks");
        let guard = locks.acquire(Path::new(FILE), &never).unwrap();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert_eq!(directory.metadata().unwrap().mode() & 0o7777, 0o700);
        drop(guard);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_directory_that_others_can_write_or_that_is_a_link_is_not_used() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (dir, locks) = locks();
        let directory = dir.path().join("locks");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = locks.acquire(Path::new(FILE), &never);
        assert!(matches!(refused, Err(LockError::Untrusted(..))), "{refused:?}");
        fs::remove_dir(&directory).unwrap();
        symlink(dir.path(), &directory).unwrap();
        let refused = locks.acquire(Path::new(FILE), &never);
        assert!(matches!(refused, Err(LockError::Untrusted(..))), "{refused:?}");
    }

    #[test]
    fn a_directory_that_a_cleaner_removed_is_made_again() {
        let (dir, locks) = locks();
        let guard = locks.acquire(Path::new(FILE), &never).unwrap();
        fs::remove_dir_all(dir.path().join("locks")).unwrap();
        drop(guard);
        drop(locks.acquire(Path::new(FILE), &never).unwrap());
    }
}
