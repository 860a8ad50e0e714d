//! State that outlasts a conversation: memories, todos, settings and grants, as values in the store.
//!
//! Each file is one kind of value: how its keys are built, what is stored under them, and how it is changed
//! without losing the changes of other processes. Nothing here knows a tool or the text that models see.

mod events;
mod kept_grants;
mod key_text;
mod known_settings;
mod memories;
mod project_key;
mod project_todos;
mod session_todos;
mod settings;

use crate::StoreError;

pub use events::{ConfigChange, PluginsChange, StateEvent, StateEvents, TodosChange};
pub use kept_grants::{GrantScope, GrantStore, KeptGrant};
pub use known_settings::{KnownSettings, SettingError, SettingSpec, SettingValue};
pub use memories::{KeyPage, Memories, MemoryScope};
pub use project_key::ProjectKey;
pub use project_todos::{ProjectTodo, ProjectTodos, TodoPage};
pub use session_todos::{SessionTodos, TodoItem, TodoStatus};
pub use settings::Settings;

/// Why a value could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A name is too long for a key.
    #[error("the {what} has {bytes} bytes; at most {most} are allowed; choose a shorter one")]
    NameTooLong {
        /// The thing that is named.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The maximum length.
        most: usize,
    },
    /// A value is too large for the store.
    #[error("the {what} has {bytes} bytes, more than the store accepts; shorten or split it")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        bytes: usize,
    },
    /// The stored value was not written by toolwright, or was damaged since.
    #[error("the stored {what} cannot be read: {cause}; it was left as it is")]
    Unreadable {
        /// What was to be read.
        what: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// No todo has this id.
    #[error("Todo not found: {0}")]
    NoSuchTodo(String),
    /// The limit on stored grants is reached.
    #[error("{0} grants are stored already; forget some of them")]
    TooManyGrants(usize),
}

/// Replaces the store's error for a value that is too large, because that error names an internal key.
fn of_value(what: &'static str, bytes: usize) -> impl FnOnce(StoreError) -> StateError {
    move |error| match error {
        StoreError::TooMuch(_) => StateError::TooLarge { what, bytes },
        error => error.into(),
    }
}

/// Reads a value that was stored as JSON.
fn parsed<T: serde::de::DeserializeOwned>(json: &str, what: &'static str) -> Result<T, StateError> {
    serde_json::from_str(json)
        .map_err(|cause| StateError::Unreadable { what, cause: cause.to_string() })
}
