//! Memories: text values by name, for one project or for all projects of a user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ProjectKey, StateError,
    key_text::{escaped, unescaped},
    of_value,
};
use crate::{ListRequest, Store};

/// The longest key in bytes. Escaping may triple its length, and a store accepts about a thousand bytes.
const MAX_KEY: usize = 256;
/// The maximum number of keys in one listing.
const MAX_LISTED: usize = 1_000;
/// The number of keys after which counting for a total stops.
const MAX_COUNTED: usize = 10_000;

/// Where a memory belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// To this project.
    #[default]
    Project,
    /// To all projects of the user.
    User,
}

impl MemoryScope {
    /// Its name in inputs and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The memories of one scope.
#[derive(Debug)]
pub struct Memories<'a> {
    store: &'a Store,
    prefix: String,
}

/// Keys of memories, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPage {
    /// The keys.
    pub keys: Vec<String>,
    /// The number of keys from the start of the page on. It is exact if `is_counted`.
    pub total: usize,
    /// False if counting stopped at the limit.
    pub is_counted: bool,
}

impl<'a> Memories<'a> {
    /// The memories of a scope.
    pub fn of(scope: MemoryScope, store: &'a Store, project: &ProjectKey) -> Self {
        let prefix = match scope {
            MemoryScope::Project => format!("memory/project/{}/", project.as_str()),
            MemoryScope::User => "memory/user/".to_owned(),
        };
        Self { store, prefix }
    }

    /// Refuses a key that is too long.
    pub fn check_key(key: &str) -> Result<(), StateError> {
        if key.len() > MAX_KEY {
            return Err(StateError::NameTooLong { what: "key", bytes: key.len(), most: MAX_KEY });
        }
        Ok(())
    }

    /// The value of a key.
    pub async fn get(&self, key: &str) -> Result<Option<String>, StateError> {
        let stored = self.store.get(&self.stored_key(key)?).await?;
        Ok(stored.map(|it| it.value))
    }

    /// Sets a value, replacing any earlier one.
    pub async fn set(&self, key: &str, value: &str) -> Result<(), StateError> {
        let stored_key = self.stored_key(key)?;
        self.store.set(&stored_key, value).await.map_err(of_value("value", value.len()))
    }

    /// Deletes a value. Returns false if there was none.
    pub async fn delete(&self, key: &str) -> Result<bool, StateError> {
        Ok(self.store.delete(&self.stored_key(key)?).await?)
    }

    /// The keys that begin with `start` and come after the key `after`.
    pub async fn keys(&self, start: &str, after: Option<&str>) -> Result<KeyPage, StateError> {
        let mut keys = Vec::new();
        let mut total = 0;
        let mut request = ListRequest {
            prefix: self.stored_key(start)?,
            after: after.map(|it| self.stored_key(it)).transpose()?,
            limit: MAX_LISTED,
            with_values: false,
        };
        loop {
            let page = self.store.list(&request).await?;
            total += page.entries.len();
            let last = page.entries.last().map(|it| it.key.clone());
            if keys.is_empty() {
                let own = |key: &str| unescaped(key.strip_prefix(&self.prefix).unwrap_or(key));
                keys = page.entries.iter().map(|it| own(&it.key)).collect();
            }
            if last.is_none() || !page.has_more || total >= MAX_COUNTED {
                return Ok(KeyPage { keys, total, is_counted: !page.has_more });
            }
            request.after = last;
        }
    }

    fn stored_key(&self, key: &str) -> Result<String, StateError> {
        Self::check_key(key)?;
        Ok(format!("{}{}", self.prefix, escaped(key)))
    }
}
