//! The interface of a store: four operations on keys and text values.

use async_trait::async_trait;

/// The version of a value. A store never uses the same version twice for a key, not even after the value was
/// deleted and set again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// A value, and the version a caller must name to replace it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// The value.
    pub value: String,
    /// Its version.
    pub version: Version,
}

/// A value in a page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// The key.
    pub key: String,
    /// The value; empty if only keys were requested.
    pub value: String,
    /// Its version.
    pub version: Version,
}

/// A page ends after the entry that brings it to this many bytes.
pub(crate) const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Selects the entries of a listing.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Only keys with this prefix are listed.
    pub prefix: String,
    /// The page begins after this key: the key of the previous page's last entry.
    pub after: Option<String>,
    /// The maximum number of entries. The page has fewer if they would exceed 8 MiB.
    pub limit: usize,
    /// Whether values are read, or only keys.
    pub with_values: bool,
}

/// A page of entries, in the order of the bytes of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<StoreEntry>,
    /// True if more entries follow the last one.
    pub has_more: bool,
}

/// The result of setting a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// It is stored and durable, with this version.
    Stored(Version),
    /// It was not stored: the value was changed or deleted by another caller.
    Changed,
}

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be used now; a later call may work.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
    /// The host's store failed. The text already says so.
    #[error("{0}")]
    OfHost(String),
    /// Reading took too long.
    #[error("the store did not answer within {0} ms; try again later")]
    TooSlow(u64),
    /// A change was not confirmed in time. Whether it was made is unknown.
    #[error(
        "the store did not answer within {0} ms, so the change may have been made; look at the value before changing it again"
    )]
    ChangeTooSlow(u64),
    /// The file is not a store and was left alone, or it is damaged and was moved aside. The text says which.
    #[error("{0}")]
    Damaged(String),
    /// A key or a value is too large.
    #[error("{0}")]
    TooMuch(String),
    /// The store is full.
    #[error("{0}")]
    Full(String),
    /// Other callers kept changing the value.
    #[error("others kept changing the same value; try again")]
    Contended,
}

/// Keeps values under keys. Each operation is atomic, and its result is durable once it returns.
#[async_trait]
pub trait StoreBackend: Send + Sync {
    /// The value of a key.
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError>;

    /// Sets a value if its current version is `expected`, or, with `None`, if there is no value yet.
    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError>;

    /// Deletes a value if its current version is `expected`, or unconditionally with `None`. Returns false if
    /// nothing was deleted.
    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError>;

    /// A page of entries.
    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError>;

    /// Releases files and connections without waiting.
    fn release(&self) {}

    /// Waits for the last operation, then releases files and connections. Later operations fail.
    async fn close(&self) {
        self.release();
    }

    /// Where values are kept, for messages: a path or a few words.
    fn location(&self) -> String;
}
