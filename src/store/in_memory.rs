//! A store that ends with its registry.

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{
    EntryPage, ListRequest, SetOutcome, StoreBackend, StoreEntry, StoreError, StoredValue, Version,
};

/// Keeps values in memory.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    values: BTreeMap<String, StoredValue>,
    /// The last version that was given to any value.
    last_version: u64,
}

impl InMemoryStore {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl StoreBackend for InMemoryStore {
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError> {
        Ok(self.lock().values.get(key).cloned())
    }

    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError> {
        let mut state = self.lock();
        if state.values.get(key).map(|it| &it.version) != expected {
            return Ok(SetOutcome::Changed);
        }
        state.last_version += 1;
        let version = Version(state.last_version.to_string());
        let stored = StoredValue { value: value.to_owned(), version: version.clone() };
        state.values.insert(key.to_owned(), stored);
        Ok(SetOutcome::Stored(version))
    }

    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let is_expected = state
            .values
            .get(key)
            .is_some_and(|it| expected.is_none_or(|expected| it.version == *expected));
        if is_expected {
            state.values.remove(key);
        }
        Ok(is_expected)
    }

    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError> {
        let state = self.lock();
        let begin = match &request.after {
            Some(after) if *after >= request.prefix => Bound::Excluded(after.as_str()),
            _ => Bound::Included(request.prefix.as_str()),
        };
        let mut entries: Vec<StoreEntry> = state
            .values
            .range::<str, _>((begin, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(&request.prefix))
            .take(request.limit.saturating_add(1))
            .map(|(key, stored)| StoreEntry {
                key: key.clone(),
                value: if request.with_values { stored.value.clone() } else { String::new() },
                version: stored.version.clone(),
            })
            .collect();
        let has_more = entries.len() > request.limit;
        entries.truncate(request.limit);
        Ok(EntryPage { entries, has_more })
    }

    fn place(&self) -> String {
        "memory of this process".to_owned()
    }
}
