//! Durable values for memories, todos, settings and grants: one interface, the stores that implement it, and
//! the values that are kept in them (`state`).
//!
//! A store knows keys and text, not their meaning. Nothing here may know tools, policy or the text that
//! models see.
//!
//! The invariant: every value has a version, and a caller replaces a value only by naming its current
//! version. So processes that share a store never overwrite a change that they have not seen.
//!
//! Start at [`StoreBackend`], the interface, then [`Store`], which adds limits, a timeout and retries.

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
