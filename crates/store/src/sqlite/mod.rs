//! The embedded store: an SQLite file that several processes share and a person can open.
//!
//! A confirmed change survives the end of the process, even a crash. It is in the system's memory first and
//! on the disk about a second later: a power cut can lose the changes of that last second, but never damages
//! the file.

mod creation;
mod damage;
mod database;
mod store_files;
mod store_thread;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use toolwright_base::path_to_text;

use self::{
    database::{Database, DatabaseFailure},
    store_files::StoreFiles,
    store_thread::{Operation, StoreThread},
};
use super::{
    EntryPage, ListRequest, SetOutcome, StoreBackend, StoreCapacity, StoreError, StoredValue,
    Version,
};

/// How long `close` waits for the last operation.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// A store in a file. The file and its directory are created when the first value is set.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    capacity: StoreCapacity,
    busy_limit: Duration,
    state: Mutex<FileUse>,
}

/// Whether the file is in use.
#[derive(Debug)]
enum FileUse {
    NotYet,
    Open(Arc<StoreThread>),
    Closed,
}

impl SqliteStore {
    /// The store at an absolute path. An operation waits up to `busy_limit` while other processes lock the
    /// file.
    pub fn new(path: PathBuf, capacity: StoreCapacity, busy_limit: Duration) -> Self {
        Self { path, capacity, busy_limit, state: Mutex::new(FileUse::NotYet) }
    }

    /// Every file that a store at this path may create.
    pub fn files_at(path: &std::path::Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let given = StoreFiles::given(path.to_owned());
        for place in [Some(given), StoreFiles::at(path).ok()].into_iter().flatten() {
            files.extend(place.all().map(|(path, _)| path));
            files.extend([place.named(".lock"), place.draft().main().to_owned()]);
        }
        files.sort();
        files.dedup();
        files
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: Operation<T>,
        work: impl Fn(&mut Database) -> Result<T, DatabaseFailure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + self.busy_limit;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |file: &mut store_thread::OpenFile| {
            if answer.is_closed() {
                return;
            }
            let result = file.run(&operation, until, || answer.is_closed(), work);
            if let Err(Err(error)) = answer.send(result) {
                file.keep_unreported(error);
            }
        });
        let ended = || StoreError::Unavailable(format!("{} was closed", self.location()));
        if !self.thread().await?.send(job) {
            return Err(ended());
        }
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    async fn thread(&self) -> Result<Arc<StoreThread>, StoreError> {
        match &*self.state.lock() {
            FileUse::Closed => {
                let message = format!("{} was closed with its registry", self.location());
                return Err(StoreError::Unavailable(message));
            }
            FileUse::Open(thread) if !thread.ended.is_cancelled() => return Ok(Arc::clone(thread)),
            FileUse::Open(_) | FileUse::NotYet => {}
        }
        let path = self.path.clone();
        let opened = tokio::task::spawn_blocking(move || StoreThread::of(&StoreFiles::at(&path)?));
        let thread = opened.await.map_err(|cause| StoreError::Unavailable(cause.to_string()))??;
        let mut state = self.state.lock();
        if !matches!(*state, FileUse::Closed) {
            *state = FileUse::Open(Arc::clone(&thread));
        }
        Ok(thread)
    }
}

#[async_trait]
impl StoreBackend for SqliteStore {
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError> {
        let key = key.to_owned();
        self.run(Operation::Read(|| None), move |database| database.get(&key)).await
    }

    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError> {
        let (key, value, expected) = (key.to_owned(), value.to_owned(), expected.cloned());
        let capacity = self.capacity;
        let set =
            move |database: &mut Database| database.set(&key, &value, expected.as_ref(), capacity);
        self.run(Operation::Set, set).await
    }

    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError> {
        let (key, expected) = (key.to_owned(), expected.cloned());
        let delete = move |database: &mut Database| database.delete(&key, expected.as_ref());
        self.run(Operation::Delete(|| false), delete).await
    }

    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError> {
        let request = request.clone();
        self.run(Operation::Read(EntryPage::default), move |database| database.list(&request)).await
    }

    fn release(&self) {
        *self.state.lock() = FileUse::Closed;
    }

    async fn close(&self) {
        let used = std::mem::replace(&mut *self.state.lock(), FileUse::Closed);
        if let FileUse::Open(thread) = used
            // Only the last of the registries that share the thread waits for it.
            && let Some(thread) = Arc::into_inner(thread)
        {
            let ended = thread.ended.clone();
            drop(thread);
            // A disk that does not respond must not block closing forever.
            let _ = tokio::time::timeout(CLOSE_LIMIT, ended.cancelled()).await;
        }
    }

    fn location(&self) -> String {
        format!("`{}`", path_to_text(&self.path))
    }
}
