//! A test bed: stores in a temporary directory.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use toolwright_store::{SqliteStore, Store, StoreCapacity, StoreLimits};

pub(crate) struct StoreBed {
    dir: TempDir,
}

impl StoreBed {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The path of the store, which does not exist at first.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join("store.sqlite")
    }

    pub(crate) fn store(&self) -> Store {
        store_at(&self.path())
    }

    /// The files in the directory, without the lock file.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|it| it != "store.sqlite.lock");
        names.sort();
        names
    }
}

/// How long an operation waits for others: far longer than needed on a loaded machine.
const WAIT_LIMIT: Duration = Duration::from_secs(100);

pub(crate) fn sqlite_at(path: &Path) -> SqliteStore {
    SqliteStore::new(path.to_owned(), StoreCapacity::default(), WAIT_LIMIT)
}

pub(crate) fn store_at(path: &Path) -> Store {
    let limits = StoreLimits { timeout: WAIT_LIMIT, ..StoreLimits::default() };
    Store::new(Arc::new(sqlite_at(path)), limits)
}
