//! The thread that works on the file of a store. All registries of a process that name the same file share
//! one, so a process has one connection for a file, and its operations wait for each other here.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::{
    creation::{clear_draft, create},
    damage::{examine, replaced},
    database::{Database, DatabaseFailure},
    store_files::{StoreFiles, StoreFilesFound},
};
use crate::store::StoreError;

/// How long changes may be in the system's memory alone, where a power cut takes them.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// The threads of this process. They are known process-wide, because a registry knows nothing of the others,
/// and several connections of one process to one file would only wait for each other.
static THREADS: Mutex<BTreeMap<StoreFiles, Weak<StoreThread>>> = Mutex::new(BTreeMap::new());

/// A piece of work for the thread.
pub(super) type StoreJob = Box<dyn FnOnce(&mut OpenFile) + Send>;

/// A thread that works on one file. It ends, and closes the file, when the last holder drops this.
#[derive(Debug)]
pub(super) struct StoreThread {
    jobs: Sender<StoreJob>,
    /// Cancelled when the thread has ended and the file is closed.
    pub(super) ended: CancellationToken,
}

impl StoreThread {
    /// The thread for these files; it is started if there is none.
    pub(super) fn of(files: &StoreFiles) -> Result<Arc<Self>, StoreError> {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
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
                // Dropped last, also when a job panics.
                let _at_end = at_end;
                file.work(&queue);
            })
            .map_err(|cause| files.unavailable(format!("no thread can be started: {cause}")))?;
        let started = Arc::new(Self { jobs, ended });
        threads.insert(files.clone(), Arc::downgrade(&started));
        Ok(started)
    }

    /// Hands the thread a job; false when the thread has ended.
    pub(super) fn send(&self, job: StoreJob) -> bool {
        self.jobs.send(job).is_ok()
    }
}

/// The file as the thread has it: open or not yet.
pub(super) struct OpenFile {
    files: StoreFiles,
    database: Option<Database>,
    /// Since when there are changes that the disk may not have yet.
    unflushed_since: Option<Instant>,
    /// What the caller whose operation found it did not wait to hear.
    unreported: Option<StoreError>,
}

/// The kinds of operations. Only one that sets a value creates a store where there is none; what the others
/// answer there is known without one.
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

    /// Runs an operation, and waits while other processes have the store, until `until` or until nobody waits
    /// for the answer any more.
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
                // The operation was refused, and there is nothing wrong with the store.
                Err(DatabaseFailure::Failed(error @ StoreError::Full(_))) => return Err(error),
                Err(DatabaseFailure::Failed(error)) => error,
            };
            // Whatever it was, the next operation begins afresh.
            self.database = None;
            return Err(error);
        }
    }

    /// Keeps an error for the next caller, if this one is about something that only one is told.
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
                // Somebody removed it in this very moment.
                StoreFilesFound::Nothing => return Err(DatabaseFailure::Busy),
                StoreFilesFound::WithoutMain | StoreFilesFound::Emptied => {
                    return Err(DatabaseFailure::Suspect(String::new()));
                }
            };
        }
        let Some(database) = &mut self.database else { return Err(DatabaseFailure::Busy) };
        let answer = work(database)?;
        if !matches!(operation, Operation::Read(_)) {
            // Nobody finds what was written to a file that has lost its name.
            if !database.is_in_place() {
                return Err(DatabaseFailure::Replaced);
            }
            self.unflushed_since.get_or_insert_with(Instant::now);
        }
        Ok(answer)
    }
}

/// How long to wait for another process: a little longer each time, and not in step with others.
fn pause(tried: u32) -> Duration {
    let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
    Duration::from_micros(50 + random % (250 << tried.min(5)))
}
