//! The store of a registry that has no location for its files.

use async_trait::async_trait;

use super::{EntryPage, ListRequest, SetOutcome, StoreBackend, StoreError, StoredValue, Version};

/// Stores nothing; every operation fails with an explanation.
#[derive(Debug)]
pub struct NowhereStore;

fn nowhere() -> StoreError {
    StoreError::Unavailable(
        "the user has no home directory to keep it in; the host has to name a path".to_owned(),
    )
}

#[async_trait]
impl StoreBackend for NowhereStore {
    async fn get(&self, _: &str) -> Result<Option<StoredValue>, StoreError> {
        Err(nowhere())
    }

    async fn set(&self, _: &str, _: &str, _: Option<&Version>) -> Result<SetOutcome, StoreError> {
        Err(nowhere())
    }

    async fn delete(&self, _: &str, _: Option<&Version>) -> Result<bool, StoreError> {
        Err(nowhere())
    }

    async fn list(&self, _: &ListRequest) -> Result<EntryPage, StoreError> {
        Err(nowhere())
    }

    fn location(&self) -> String {
        "nowhere".to_owned()
    }
}
