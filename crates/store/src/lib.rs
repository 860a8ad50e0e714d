//! Durable values for memory, todos, settings and grants: one interface, and the stores that implement it.
//!
//! A store knows keys and text, not their meaning. Every value has a version, and a caller can replace a
//! value only by naming its current version, so processes that share a store overwrite no change unseen.
//! Tools use [`Store`], which adds size limits, a timeout and retries after a lost race.

mod capacity;
mod contract;
mod in_memory;
mod nowhere;
mod shared;
mod sqlite;

pub use capacity::StoreCapacity;
pub(crate) use contract::MAX_PAGE_BYTES;
pub use contract::{
    EntryPage, ListRequest, SetOutcome, StoreBackend, StoreEntry, StoreError, StoredValue, Version,
};
pub use in_memory::InMemoryStore;
pub use nowhere::NowhereStore;
pub use shared::{Store, StoreLimits, ValueChange};
pub use sqlite::SqliteStore;

mod state;

pub use state::{
    ConfigChange, GrantScope, GrantStore, KeptGrant, KeyPage, KnownSettings, Memories, MemoryScope,
    PluginsChange, ProjectKey, ProjectTodo, ProjectTodos, SessionTodos, SettingError, SettingSpec,
    SettingValue, Settings, StateError, StateEvent, StateEvents, TodoItem, TodoPage, TodoStatus,
    TodosChange,
};
