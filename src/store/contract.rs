//! The contract of a store: four operations on keys and texts.

use async_trait::async_trait;

/// The version of a value. A store never gives the same one twice for a key, also when the value was deleted
/// and set again in between.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// A value, and the version that whoever replaces it has to name.
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
    /// The value; empty where only keys were asked for.
    pub value: String,
    /// Its version.
    pub version: Version,
}

/// A page ends after the entry with which it has this many bytes.
pub const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Which entries a listing gives.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// What their keys begin with.
    pub prefix: String,
    /// The key after which the page begins; that of the last entry of the page before.
    pub after: Option<String>,
    /// How many entries the page may have. It has fewer where they would be more than [`MAX_PAGE_BYTES`].
    pub limit: usize,
    /// Whether entries have their values.
    pub with_values: bool,
}

/// A page of entries, in the order of the bytes of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<StoreEntry>,
    /// True when there are more behind the last.
    pub has_more: bool,
}

/// What became of a value that was to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// It is stored and durable, with this version.
    Stored(Version),
    /// It was not stored: another value, or none, is there by now.
    Changed,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached or used now; a later call may work.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
    /// The host's store failed. The text says so by itself.
    #[error("{0}")]
    OfHost(String),
    /// It was not read in time.
    #[error("the store did not answer within {0} ms; try again later")]
    TooSlow(u64),
    /// It did not say in time that a change was made. Whether it was is not known.
    #[error(
        "the store did not answer within {0} ms, so the change may have been made; look at the value before changing it again"
    )]
    ChangeTooSlow(u64),
    /// Its file is not a store and was left alone, or is damaged and was put aside. The text says which.
    #[error("{0}")]
    Damaged(String),
    /// A key or a value is too large.
    #[error("{0}")]
    TooMuch(String),
    /// There is no room for more.
    #[error("{0}")]
    Full(String),
    /// Others changed the value again and again.
    #[error("others kept changing the same value; try again")]
    Contended,
}

/// A place that keeps values. Each operation is atomic, and what it answers is durable.
#[async_trait]
pub trait StoreBackend: Send + Sync {
    /// The value of a key.
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError>;

    /// Sets a value if the version there is still `expected`; with none, if there is no value yet.
    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError>;

    /// Deletes a value if its version is still `expected`; with none, whatever it is. False when nothing was
    /// deleted.
    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError>;

    /// A page of entries.
    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError>;

    /// Lets go of files and connections, without waiting for anything.
    fn release(&self) {}

    /// Waits for the last operation, and lets go of files and connections. Later operations fail.
    async fn close(&self) {
        self.release();
    }

    /// Where values are kept, as a person is told: a path, or a few words.
    fn place(&self) -> String;
}
