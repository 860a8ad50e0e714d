//! The todos of a conversation: one list, which is always replaced as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectKey, StateError, key_text::escaped, of_value, parsed};
use crate::{Store, ValueChange};

/// The longest session id that is used in a key unchanged. Longer ids are hashed.
const MAX_SESSION_ID: usize = 300;

/// A todo of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TodoItem {
    /// What is to be done, as an instruction: Run the tests.
    #[schemars(length(min = 1, max = 10_000))]
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// What is shown while it is done: Running the tests.
    #[schemars(length(min = 1, max = 10_000))]
    pub active_form: String,
}

/// How far a todo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "models would read docs that only repeat the names")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// The todos of a conversation.
#[derive(Debug)]
pub struct SessionTodos<'a> {
    store: &'a Store,
    stored_key: String,
}

impl<'a> SessionTodos<'a> {
    /// The todos of a conversation in a project.
    pub fn of(session_id: &str, store: &'a Store, project: &ProjectKey) -> Self {
        let mut id = escaped(session_id);
        if id.len() > MAX_SESSION_ID {
            id = format!("#{}", blake3::hash(id.as_bytes()).to_hex());
        }
        Self { store, stored_key: format!("todos/session/{}/{id}", project.as_str()) }
    }

    /// The list; empty if there is none yet.
    pub async fn list(&self) -> Result<Vec<TodoItem>, StateError> {
        let stored = self.store.get(&self.stored_key).await?;
        stored.map_or_else(|| Ok(Vec::new()), |it| parsed(&it.value, "todo list"))
    }

    /// Replaces the list and returns the previous one. A list that cannot be read is replaced too, because
    /// models always send the whole list.
    pub async fn replace(&self, todos: &[TodoItem]) -> Result<Vec<TodoItem>, StateError> {
        let json = serde_json::to_string(todos).map_err(|cause| StateError::Unreadable {
            what: "todo list",
            cause: cause.to_string(),
        })?;
        let bytes = json.len();
        self.store
            .update(&self.stored_key, |old| {
                let previous = old.and_then(|it| parsed(it, "todo list").ok()).unwrap_or_default();
                let change = if todos.is_empty() {
                    ValueChange::Delete
                } else {
                    ValueChange::Set(json.clone())
                };
                (change, previous)
            })
            .await
            .map_err(of_value("todo list", bytes))
    }
}
