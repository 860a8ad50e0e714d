//! The thread that works on the file of a store. All registries of a process that name the same file share
//! one thread, so a process has one connection per file, and its operations queue here.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    creation::{clear_draft, create},
    damage::{examine, replaced},
    database::{Database, DatabaseFailure},
    store_files::{StoreFiles, StoreFilesFound},
};
use crate::StoreError;

/// How long changes may stay in the system's memory only, where a power cut loses them.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// The store threads of this process. They are global, because registries do not know each other, and several
/// connections of one process to one file would only wait for each other.
static THREADS: Mutex<BTreeMap<StoreFiles, Weak<StoreThread>>> = Mutex::new(BTreeMap::new());

/// A job for the thread.
pub(super) type StoreJob = Box<dyn FnOnce(&mut OpenFile) + Send>;

/// A thread that works on one file. It closes the file and ends when the last `Arc` is dropped.
#[derive(Debug)]
pub(super) struct StoreThread {
    jobs: Sender<StoreJob>,
    /// Cancelled when the thread has ended and the file is closed.
    pub(super) ended: CancellationToken,
}

impl StoreThread {
    /// The thread for these files; starts it if there is none.
    pub(super) fn of(files: &StoreFiles) -> Result<Arc<Self>, StoreError> {
        let mut threads = THREADS.lock();
        let running = threads.get(files).and_then(Weak::upgrade);
        if let Some(running) = running.filter(|it| !it.ended.is_cancelled()) {
            return Ok(running);
        }
        threads.retain(|_, thread| thread.strong_count() > 0);
        let (jobs, queue) = mpsc::channel();
        let ended = CancellationToken::new();
        let (at_end, file) = (ended.clone().drop_guard(), OpenFile::new(files.clone()));
        thread::Builder::new()
            .name("toolwright-store".to_owned())
            .spawn(move || {
                // Dropped last, even if a job panics.
                let _at_end = at_end;
                file.work(&queue);
            })
            .map_err(|cause| files.unavailable(format!("no thread can be started: {cause}")))?;
        let started = Arc::new(Self { jobs, ended });
        threads.insert(files.clone(), Arc::downgrade(&started));
        Ok(started)
    }

    /// Sends the thread a job. Returns false if the thread has ended.
    pub(super) fn send(&self, job: StoreJob) -> bool {
        self.jobs.send(job).is_ok()
    }
}

/// The file of a store thread, opened on first use.
pub(super) struct OpenFile {
    files: StoreFiles,
    database: Option<Database>,
    /// When the oldest change was made that may not be on the disk yet.
    unflushed_since: Option<Instant>,
    /// An error whose caller had stopped waiting; the next caller gets it.
    unreported: Option<StoreError>,
}

/// The kinds of operations. Only `Set` creates a missing store. The others carry the result they have on a
/// missing store.
pub(super) enum Operation<T> {
    /// Reads.
    Read(fn() -> T),
    /// Deletes a value.
    Delete(fn() -> T),
    /// Sets a value.
    Set,
}

impl OpenFile {
    fn new(files: StoreFiles) -> Self {
        Self { files, database: None, unflushed_since: None, unreported: None }
    }

    fn work(mut self, queue: &Receiver<StoreJob>) {
        loop {
            let job = match self.unflushed_since {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(since) => queue.recv_timeout(FLUSH_AFTER.saturating_sub(since.elapsed())),
            };
            match job {
                Ok(job) => job(&mut self),
                Err(RecvTimeoutError::Timeout) => {
                    self.unflushed_since = None;
                    if let Some(database) = self.database.as_ref().filter(|it| it.is_in_place()) {
                        database.checkpoint();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if let Some(database) = self.database.take() {
            database.close();
        }
    }

    /// Runs an operation. While other processes lock the store, retries until `until`, or until the caller
    /// has stopped waiting.
    pub(super) fn run<T>(
        &mut self,
        operation: &Operation<T>,
        until: Instant,
        is_abandoned: impl Fn() -> bool,
        work: impl Fn(&mut Database) -> Result<T, DatabaseFailure>,
    ) -> Result<T, StoreError> {
        if let Some(unreported) = self.unreported.take() {
            return Err(unreported);
        }
        let mut tried = 0;
        loop {
            let error = match self.attempt(operation, until, &work) {
                Ok(answer) => return Ok(answer),
                Err(DatabaseFailure::Busy) if Instant::now() < until && !is_abandoned() => {
                    thread::sleep(pause(tried));
                    tried += 1;
                    continue;
                }
                Err(DatabaseFailure::Busy) => {
                    return Err(self.files.unavailable("another program keeps it locked"));
                }
                Err(DatabaseFailure::Suspect(cause)) => {
                    self.database = None;
                    examine(&self.files, &cause, until)
                }
                Err(DatabaseFailure::Replaced) => replaced(&self.files),
                // The operation was refused, but the store is intact.
                Err(DatabaseFailure::Failed(error @ StoreError::Full(_))) => return Err(error),
                Err(DatabaseFailure::Failed(error)) => error,
            };
            // After any failure the next operation opens the file again.
            self.database = None;
            return Err(error);
        }
    }

    /// Keeps a damage report for the next caller, because damage is reported only once.
    pub(super) fn keep_unreported(&mut self, error: StoreError) {
        if matches!(error, StoreError::Damaged(_)) {
            self.unreported = Some(error);
        }
    }

    fn attempt<T>(
        &mut self,
        operation: &Operation<T>,
        until: Instant,
        work: &impl Fn(&mut Database) -> Result<T, DatabaseFailure>,
    ) -> Result<T, DatabaseFailure> {
        if let Some(database) = &self.database
            && !database.is_in_place()
        {
            if !database.has_main_in_place() {
                return Err(DatabaseFailure::Replaced);
            }
            self.database = None;
        }
        if self.database.is_none() {
            let mut found = self.files.look()?;
            if found == StoreFilesFound::Nothing {
                match operation {
                    Operation::Read(answer) | Operation::Delete(answer) => return Ok(answer()),
                    Operation::Set => create(&self.files, until)?,
                }
                found = self.files.look()?;
            }
            self.database = match found {
                StoreFilesFound::Main(bytes) => {
                    let opened = Database::open(&self.files, bytes)?;
                    clear_draft(&self.files);
                    Some(opened)
                }
                // It was removed just now.
                StoreFilesFound::Nothing => return Err(DatabaseFailure::Busy),
                StoreFilesFound::WithoutMain | StoreFilesFound::Emptied => {
                    return Err(DatabaseFailure::Suspect(String::new()));
                }
            };
        }
        let Some(database) = &mut self.database else { return Err(DatabaseFailure::Busy) };
        let answer = work(database)?;
        if !matches!(operation, Operation::Read(_)) {
            // A value written to a file that is no longer at its path is lost.
            if !database.is_in_place() {
                return Err(DatabaseFailure::Replaced);
            }
            self.unflushed_since.get_or_insert_with(Instant::now);
        }
        Ok(answer)
    }
}

/// The delay before the next try: longer each time, and random so that competing processes do not stay in
/// step.
fn pause(tried: u32) -> Duration {
    let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
    Duration::from_micros(50 + random % (250 << tried.min(5)))
}
