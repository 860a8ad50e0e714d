//! The store of a registry: a backend with size limits, a timeout, and changes that are retried after a lost
//! race.

use std::{
    fmt,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    EntryPage, ListRequest, SetOutcome, StoreBackend, StoreEntry, StoreError, StoredValue,
};

/// The limits of single operations on a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreLimits {
    /// The timeout of one operation.
    pub timeout: Duration,
    /// The maximum length of a key in bytes.
    pub max_key_bytes: usize,
    /// The maximum length of a value in bytes.
    pub max_value_bytes: usize,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            max_key_bytes: 1_024,
            max_value_bytes: 1024 * 1024,
        }
    }
}

/// The number of entries in one page.
const PAGE: usize = 1_000;
/// How many timeouts long a change is retried while others change the same value.
const PATIENCE: u32 = 3;

/// The store of a registry.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn StoreBackend>,
    limits: StoreLimits,
}

/// What [`Store::update`] does with a value.
#[derive(Debug)]
pub enum ValueChange {
    /// Replaces it.
    Set(String),
    /// Deletes it.
    Delete,
    /// Leaves it unchanged.
    Keep,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("location", &self.backend.location()).finish_non_exhaustive()
    }
}

impl Store {
    /// A store on top of `backend`.
    pub fn new(backend: Arc<dyn StoreBackend>, limits: StoreLimits) -> Self {
        Self { backend, limits }
    }

    /// Where values are kept, for messages.
    pub fn location(&self) -> String {
        self.backend.location()
    }

    /// The value of a key.
    pub async fn get(&self, key: &str) -> Result<Option<StoredValue>, StoreError> {
        self.check_key(key)?;
        self.in_time(self.backend.get(key)).await
    }

    /// Sets a value, replacing any earlier one.
    pub async fn set(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.update(key, |_| (ValueChange::Set(value.to_owned()), ())).await
    }

    /// Deletes a value. Returns false if there was none.
    pub async fn delete(&self, key: &str) -> Result<bool, StoreError> {
        self.check_key(key)?;
        self.change_in_time(self.backend.delete(key, None)).await
    }

    /// Computes a change from the current value and applies it. If another caller was faster, `change` is
    /// called again with the new value. Returns the result of the last call.
    pub async fn update<T>(
        &self,
        key: &str,
        mut change: impl FnMut(Option<&str>) -> (ValueChange, T),
    ) -> Result<T, StoreError> {
        self.check_key(key)?;
        let until = Instant::now() + self.limits.timeout * PATIENCE;
        let mut tried = 0;
        loop {
            let old = self.in_time(self.backend.get(key)).await?;
            let version = old.as_ref().map(|it| &it.version);
            let (new, answer) = change(old.as_ref().map(|it| it.value.as_str()));
            let is_done = match new {
                ValueChange::Keep => true,
                ValueChange::Delete => match version {
                    None => true,
                    Some(_) => self.change_in_time(self.backend.delete(key, version)).await?,
                },
                ValueChange::Set(value) => {
                    self.check_value(key, &value)?;
                    let outcome =
                        self.change_in_time(self.backend.set(key, &value, version)).await?;
                    matches!(outcome, SetOutcome::Stored(_))
                }
            };
            if is_done {
                return Ok(answer);
            }
            if Instant::now() >= until {
                return Err(StoreError::Contended);
            }
            tokio::time::sleep(pause(tried)).await;
            tried += 1;
        }
    }

    /// A page of entries.
    pub async fn list(&self, request: &ListRequest) -> Result<EntryPage, StoreError> {
        self.in_time(self.backend.list(request)).await
    }

    /// The entries whose keys begin with `prefix`, at most `max`, and whether there are more.
    pub async fn entries(
        &self,
        prefix: &str,
        max: usize,
        with_values: bool,
    ) -> Result<(Vec<StoreEntry>, bool), StoreError> {
        let mut entries: Vec<StoreEntry> = Vec::new();
        loop {
            let page = self
                .list(&ListRequest {
                    prefix: prefix.to_owned(),
                    after: entries.last().map(|it| it.key.clone()),
                    limit: PAGE.min(max - entries.len()),
                    with_values,
                })
                .await?;
            let is_last = page.entries.is_empty() || !page.has_more;
            let has_more = page.has_more;
            entries.extend(page.entries);
            if is_last || entries.len() >= max {
                return Ok((entries, has_more));
            }
        }
    }

    /// Releases files and connections without waiting.
    pub fn release(&self) {
        self.backend.release();
    }

    /// Waits for the last operation, then releases files and connections.
    pub async fn close(&self) {
        self.backend.close().await;
    }

    fn check_key(&self, key: &str) -> Result<(), StoreError> {
        let max = self.limits.max_key_bytes;
        if key.len() > max {
            let message = format!("a key has {} bytes; at most {max} are allowed", key.len());
            return Err(StoreError::TooMuch(message));
        }
        Ok(())
    }

    fn check_value(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let max = self.limits.max_value_bytes;
        if value.len() > max {
            let length = value.len();
            let message =
                format!("the value of `{key}` has {length} bytes; at most {max} are allowed");
            return Err(StoreError::TooMuch(message));
        }
        Ok(())
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.within_limit(work, StoreError::TooSlow).await
    }

    async fn change_in_time<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.within_limit(work, StoreError::ChangeTooSlow).await
    }

    async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
        too_slow: fn(u64) -> StoreError,
    ) -> Result<T, StoreError> {
        let limit = self.limits.timeout;
        tokio::time::timeout(limit, work)
            .await
            .unwrap_or_else(|_| Err(too_slow(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))))
    }
}

/// The delay before the next try: longer each time, and random so that competing processes do not stay in
/// step.
fn pause(tried: u32) -> Duration {
    let most = 1_u64 << tried.min(6);
    let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
    Duration::from_micros(200 + random % (most * 1_000))
}
