//! The settings of a project. A model's change in one project does not affect others.

use super::{
    ProjectKey, SettingValue, StateError,
    key_text::{escaped, unescaped},
    of_value, parsed,
};
use crate::{Store, ValueChange};

/// The longest name of a setting in bytes.
const MAX_NAME: usize = 200;
/// The longest value of a setting in bytes, as JSON.
const MAX_VALUE: usize = 100_000;
/// The maximum number of settings in a listing.
const MAX_LISTED: usize = 10_000;

/// A setting that was set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StoredSetting {
    /// Its name.
    pub setting: String,
    /// Its value.
    pub value: SettingValue,
}

/// The settings of a project.
#[derive(Debug)]
pub struct Settings<'a> {
    store: &'a Store,
    prefix: String,
}

impl<'a> Settings<'a> {
    /// The settings of a project.
    pub fn of(store: &'a Store, project: &ProjectKey) -> Self {
        Self { store, prefix: format!("config/project/{}/", project.as_str()) }
    }

    /// Refuses a name that is too long.
    pub fn check_name(name: &str) -> Result<(), StateError> {
        if name.len() > MAX_NAME {
            let (what, bytes) = ("name of the setting", name.len());
            return Err(StateError::NameTooLong { what, bytes, most: MAX_NAME });
        }
        Ok(())
    }

    /// The value of a setting, if it was set.
    pub async fn get(&self, name: &str) -> Result<Option<SettingValue>, StateError> {
        let stored = self.store.get(&self.stored_key(name)?).await?;
        stored.map(|it| parsed(&it.value, "setting")).transpose()
    }

    /// Sets or removes a value, and returns the previous one.
    pub async fn set(
        &self,
        name: &str,
        value: Option<&SettingValue>,
    ) -> Result<Option<SettingValue>, StateError> {
        let stored_key = self.stored_key(name)?;
        let json = value.map(ToString::to_string);
        let bytes = json.as_ref().map_or(0, String::len);
        if bytes > MAX_VALUE {
            return Err(StateError::NameTooLong { what: "value", bytes, most: MAX_VALUE });
        }
        self.store
            .update(&stored_key, |old| {
                let change = json.clone().map_or(ValueChange::Delete, ValueChange::Set);
                (change, old.and_then(|it| parsed(it, "setting").ok()))
            })
            .await
            .map_err(of_value("value", bytes))
    }

    /// All settings that are set, by name. Unreadable ones are skipped.
    pub async fn list(&self) -> Result<Vec<StoredSetting>, StateError> {
        let (entries, _) = self.store.entries(&self.prefix, MAX_LISTED, true).await?;
        let read = |key: &str, value: &str| {
            let setting = unescaped(key.strip_prefix(&self.prefix)?);
            Some(StoredSetting { setting, value: parsed(value, "setting").ok()? })
        };
        Ok(entries.iter().filter_map(|it| read(&it.key, &it.value)).collect())
    }

    fn stored_key(&self, name: &str) -> Result<String, StateError> {
        Self::check_name(name)?;
        Ok(format!("{}{}", self.prefix, escaped(name)))
    }
}
