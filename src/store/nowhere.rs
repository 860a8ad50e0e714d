//! The store of a registry for which no place was found.

use async_trait::async_trait;

use super::{EntryPage, ListRequest, SetOutcome, StoreBackend, StoreError, StoredValue, Version};

/// Keeps nothing, and says so.
#[derive(Debug)]
pub struct NowhereStore;

fn nowhere() -> StoreError {
    StoreError::Unavailable(
        "the user has no home directory, so there is no place for it; the host has to name a path"
            .to_owned(),
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

    fn place(&self) -> String {
        "nowhere".to_owned()
    }
}
