//! The total size limit of a store.

use super::StoreError;

/// The total size limit of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreCapacity {
    /// The maximum number of values.
    pub max_entries: u64,
    /// The maximum number of bytes of all keys and values together.
    pub max_bytes: u64,
}

impl Default for StoreCapacity {
    fn default() -> Self {
        Self { max_entries: 1_000_000, max_bytes: 1024 * 1024 * 1024 }
    }
}

impl StoreCapacity {
    /// Refuses a value that does not fit into a store that now has `entries` entries and `bytes` bytes.
    /// `old_bytes` is the length of the value it replaces. A value no longer than the one it replaces always
    /// fits.
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
                "the store is full: it has {entries} entries, and {max_entries} are allowed; delete some that are no longer needed"
            )));
        }
        let new = value.len() as u64 + if old_bytes.is_none() { key.len() as u64 } else { 0 };
        let grown = new.saturating_sub(old_bytes.unwrap_or_default());
        if grown > 0 && bytes.saturating_add(grown) > max_bytes {
            return Err(StoreError::Full(format!(
                "the store is full: it has {bytes} bytes and would get {grown} more, and {max_bytes} are allowed; delete entries that are no longer needed"
            )));
        }
        Ok(())
    }
}
