//! What lasts between conversations, as values in the store: memories, todos, settings and grants.
//!
//! Each file is one kind of value: how its keys are made, what is stored under them, and how it is changed so
//! that processes that share a store lose nothing. Nothing here knows a tool or its words for a model.

mod events;
mod kept_grants;
mod key_text;
mod known_settings;
mod memories;
mod project_key;
mod project_todos;
mod session_todos;
mod settings;

pub use events::{ChangeTurn, ConfigChange, PluginsChange, StateEvent, StateEvents, TodosChange};
pub use kept_grants::{GrantScope, GrantStore, KeptGrant};
pub use known_settings::{KnownSettings, SettingError, SettingKind, SettingSpec, SettingValue};
pub use memories::{KeyPage, Memories, MemoryScope};
pub use project_key::ProjectKey;
pub use project_todos::{ProjectTodo, ProjectTodos, TodoPage};
pub use session_todos::{SessionTodos, TodoItem, TodoStatus};
pub use settings::{Settings, StoredSetting};

use crate::store::StoreError;

/// Why a value could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A name is longer than keys may be.
    #[error("the {what} has {bytes} bytes; at most {most} are allowed; choose a shorter one")]
    NameTooLong {
        /// What the name is of.
        what: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// A value is larger than the store takes.
    #[error("the {what} has {bytes} bytes, more than the store takes; shorten or split it")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: usize,
    },
    /// What is stored was not written by toolwright, or was damaged since.
    #[error("what is stored as the {what} cannot be read: {cause}; it was left as it is")]
    Unreadable {
        /// What was to be read.
        what: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// No todo has this id.
    #[error("Todo not found: {0}")]
    NoSuchTodo(String),
    /// More grants are kept than are ever read.
    #[error("{0} grants are kept already; forget some of them")]
    TooManyGrants(usize),
}

/// The error of a value that may be too large: a store that refuses it names a key that nobody has seen.
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
