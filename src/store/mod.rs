//! Durable values for memory, todos, settings and grants: one contract, and the stores that keep it.
//!
//! A store knows keys and texts, never what they mean. Every value has a version, and a value is only
//! replaced by somebody who names the version it replaces, so that processes that share a store lose no
//! change. [`Store`] is what tools use: it adds bounds, a time limit and the loop around a lost race.

mod capacity;
mod contract;
mod in_memory;
mod nowhere;
mod shared;
mod sqlite;

pub use capacity::StoreCapacity;
pub use contract::{
    EntryPage, ListRequest, MAX_PAGE_BYTES, SetOutcome, StoreBackend, StoreEntry, StoreError,
    StoredValue, Version,
};
pub use in_memory::InMemoryStore;
pub use nowhere::NowhereStore;
pub use shared::{Store, StoreLimits, ValueChange};
pub use sqlite::SqliteStore;
