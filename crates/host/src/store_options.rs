//! The option `store`: where a registry keeps persistent values.

use std::{path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{Environment, data_directory};
use toolwright_store::{
    InMemoryStore, NowhereStore, SqliteStore, Store, StoreBackend, StoreCapacity, StoreLimits,
};

use super::{HostFunction, host_store::HostStore};

/// The options of a store.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct StoreOptions {
    path: Option<PathBuf>,
    #[schemars(range(min = 1, max = 1_000_000_000))]
    max_entries: Option<u64>,
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    max_bytes: Option<u64>,
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u32>,
}

/// The kinds of stores.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum StoreKind {
    /// A file.
    #[default]
    File,
    /// The memory of the process.
    Memory,
    /// An object of the host, represented by the numbers of its methods.
    Host(StoreMethods),
}

/// The numbers of the methods of a host's store.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreMethods {
    pub(super) get: u32,
    pub(super) set: u32,
    pub(super) delete: u32,
    pub(super) list: u32,
}

/// A store, and the files that it may create.
pub(super) struct BuiltStore {
    pub(super) store: Store,
    pub(super) files: Vec<PathBuf>,
}

impl StoreOptions {
    /// Makes the store. Nothing is opened or created before its first use.
    pub(super) fn build(
        self,
        kind: StoreKind,
        environment: &Environment,
        function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
    ) -> Result<BuiltStore, ToolError> {
        let mut limits = StoreLimits::default();
        if let Some(timeout) = self.timeout_ms {
            limits.timeout = Duration::from_millis(timeout.into());
        }
        let usual = StoreCapacity::default();
        let capacity = StoreCapacity {
            max_entries: self.max_entries.unwrap_or(usual.max_entries),
            max_bytes: self.max_bytes.unwrap_or(usual.max_bytes),
        };
        let mut files = Vec::new();
        let backend: Arc<dyn StoreBackend> = match kind {
            StoreKind::Memory => Arc::new(InMemoryStore::new(capacity)),
            StoreKind::Host(methods) => Arc::new(HostStore::new(&methods, function)),
            StoreKind::File => match self.path.or_else(|| default_path(environment)) {
                None => Arc::new(NowhereStore),
                Some(path) if !path.is_absolute() => {
                    let shown = path.display();
                    let message = format!("`store.path` must be an absolute path, got `{shown}`");
                    return Err(ToolError::new(ErrorKind::InvalidOptions, message));
                }
                Some(path) => {
                    files = SqliteStore::files_at(&path);
                    // Shorter than the store's timeout, so that a locked file is reported as such.
                    let busy_limit = limits.timeout * 9 / 10;
                    Arc::new(SqliteStore::new(path, capacity, busy_limit))
                }
            },
        };
        Ok(BuiltStore { store: Store::new(backend, limits), files })
    }
}

/// The default path of the store, in the user's data directory.
pub(super) fn default_path(environment: &Environment) -> Option<PathBuf> {
    Some(data_directory(environment)?.join("toolwright").join("store.sqlite"))
}
