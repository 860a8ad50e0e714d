//! How much a store may hold in all.

use super::StoreError;

/// How much a store may hold in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreCapacity {
    /// How many values.
    pub max_entries: u64,
    /// How many bytes of keys and values.
    pub max_bytes: u64,
}

impl Default for StoreCapacity {
    fn default() -> Self {
        Self { max_entries: 1_000_000, max_bytes: 1024 * 1024 * 1024 }
    }
}

impl StoreCapacity {
    /// Refuses a value that a store of so many entries and bytes has no room for. `old_bytes` is the length
    /// of the value it replaces. A value that is no longer than the one it replaces always has room.
    pub(super) fn check(
        self,
        entries: u64,
        bytes: u64,
        key: &str,
        value: &str,
        old_bytes: Option<u64>,
    ) -> Result<(), StoreError> {
        let Self { max_entries, max_bytes } = self;
        if old_bytes.is_none() && entries >= max_entries {
            return Err(StoreError::Full(format!(
                "the store is full: it has {entries} entries, and {max_entries} are allowed; delete some that are not needed any more"
            )));
        }
        let new = value.len() as u64 + if old_bytes.is_none() { key.len() as u64 } else { 0 };
        let grown = new.saturating_sub(old_bytes.unwrap_or_default());
        if grown > 0 && bytes.saturating_add(grown) > max_bytes {
            return Err(StoreError::Full(format!(
                "the store is full: it has {bytes} bytes and would get {grown} more, and {max_bytes} are allowed; delete entries that are not needed any more"
            )));
        }
        Ok(())
    }
}
