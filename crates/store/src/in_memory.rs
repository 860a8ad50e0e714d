//! A store in memory. Its values are gone when the registry is dropped.

use std::{collections::BTreeMap, ops::Bound};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{
    EntryPage, ListRequest, MAX_PAGE_BYTES, SetOutcome, StoreBackend, StoreCapacity, StoreEntry,
    StoreError, StoredValue, Version,
};

/// Keeps values in memory.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    capacity: StoreCapacity,
    state: Mutex<StoredValues>,
}

#[derive(Debug, Default)]
struct StoredValues {
    by_key: BTreeMap<String, StoredValue>,
    /// The bytes of all keys and values.
    bytes: u64,
    /// The last version assigned to any value.
    last_version: u64,
}

impl InMemoryStore {
    /// An empty store with a size limit.
    pub fn new(capacity: StoreCapacity) -> Self {
        Self { capacity, ..Self::default() }
    }
}

#[async_trait]
impl StoreBackend for InMemoryStore {
    async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError> {
        Ok(self.state.lock().by_key.get(key).cloned())
    }

    async fn set(
        &self,
        key: &str,
        value: &str,
        expected: Option<&Version>,
    ) -> Result<SetOutcome, StoreError> {
        let mut state = self.state.lock();
        if state.by_key.get(key).map(|it| &it.version) != expected {
            return Ok(SetOutcome::Changed);
        }
        let old_bytes = state.by_key.get(key).map(|it| it.value.len() as u64);
        let entries = state.by_key.len() as u64;
        self.capacity.check(entries, state.bytes, key, value, old_bytes)?;
        let freed = old_bytes.map_or(0, |it| it + key.len() as u64);
        state.bytes = state.bytes - freed + (key.len() + value.len()) as u64;
        state.last_version += 1;
        let version = Version(state.last_version.to_string());
        let stored = StoredValue { value: value.to_owned(), version: version.clone() };
        state.by_key.insert(key.to_owned(), stored);
        Ok(SetOutcome::Stored(version))
    }

    async fn delete(&self, key: &str, expected: Option<&Version>) -> Result<bool, StoreError> {
        let mut state = self.state.lock();
        let is_expected = state
            .by_key
            .get(key)
            .is_some_and(|it| expected.is_none_or(|expected| it.version == *expected));
        if is_expected && let Some(deleted) = state.by_key.remove(key) {
            state.bytes -= (key.len() + deleted.value.len()) as u64;
        }
        Ok(is_expected)
    }

    async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError> {
        let state = self.state.lock();
        let begin = match &request.after {
            Some(after) if *after >= request.prefix => Bound::Excluded(after.as_str()),
            _ => Bound::Included(request.prefix.as_str()),
        };
        let found = state
            .by_key
            .range::<str, _>((begin, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(&request.prefix));
        let mut page = EntryPage::default();
        let mut bytes = 0;
        for (key, stored) in found {
            if page.entries.len() >= request.limit || bytes >= MAX_PAGE_BYTES {
                page.has_more = true;
                break;
            }
            let value = if request.with_values { stored.value.clone() } else { String::new() };
            bytes += key.len() + value.len();
            page.entries.push(StoreEntry {
                key: key.clone(),
                value,
                version: stored.version.clone(),
            });
        }
        Ok(page)
    }

    fn location(&self) -> String {
        "memory of this process".to_owned()
    }
}
