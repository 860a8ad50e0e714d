//! The todos of a project. Each is stored under its own key, so changing one never loses another.

use toolwright_base::{SHOWN_NAME, shortened};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ProjectKey, StateError, of_value, parsed};
use crate::{ListRequest, Store, ValueChange};

/// The number of todos read at once.
const PAGE: usize = 1_000;
/// The number of todos after which counting for a total stops.
const MAX_COUNTED: usize = 100_000;

/// A todo of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTodo {
    /// A unique id. Later todos have greater ids.
    pub id: Uuid,
    /// What is to be done.
    pub task: String,
    /// True if it is done.
    pub completed: bool,
}

/// A todo as it is stored, under its id.
#[derive(Serialize, Deserialize)]
struct StoredTodo {
    task: String,
    completed: bool,
}

/// The todos of a project.
#[derive(Debug)]
pub struct ProjectTodos<'a> {
    store: &'a Store,
    prefix: String,
}

/// A part of the todos, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoPage {
    /// The todos.
    pub todos: Vec<ProjectTodo>,
    /// The number of todos from the start of the page on.
    pub total: usize,
    /// The number of these that are not completed.
    pub open: usize,
    /// The number of entries that cannot be read.
    pub unreadable: usize,
    /// False if counting stopped at the limit.
    pub is_counted: bool,
}

impl ProjectTodo {
    /// When it was added, in milliseconds since 1970.
    pub fn created_at(&self) -> u64 {
        self.id.get_timestamp().map_or(0, |it| {
            let (seconds, nanoseconds) = it.to_unix();
            seconds * 1_000 + u64::from(nanoseconds) / 1_000_000
        })
    }
}

impl<'a> ProjectTodos<'a> {
    /// The todos of a project.
    pub fn of(store: &'a Store, project: &ProjectKey) -> Self {
        Self { store, prefix: format!("todos/project/{}/", project.as_str()) }
    }

    /// Adds a todo.
    pub async fn add(&self, task: &str) -> Result<ProjectTodo, StateError> {
        let todo = ProjectTodo { id: Uuid::now_v7(), task: task.to_owned(), completed: false };
        let json = stored_form(&todo)?;
        self.store
            .set(&self.stored_key(todo.id), &json)
            .await
            .map_err(of_value("task", task.len()))?;
        Ok(todo)
    }

    /// Marks a todo as completed. Does nothing if it already is.
    pub async fn complete(&self, id: &str) -> Result<ProjectTodo, StateError> {
        self.change(id, |todo| {
            todo.completed = true;
            Ok(ValueChange::Set(stored_form(todo)?))
        })
        .await
    }

    /// Removes a todo.
    pub async fn remove(&self, id: &str) -> Result<ProjectTodo, StateError> {
        self.change(id, |_| Ok(ValueChange::Delete)).await
    }

    /// At most `most` todos after the id `after`, and the number of all that follow.
    pub async fn list(&self, after: Option<Uuid>, most: usize) -> Result<TodoPage, StateError> {
        let mut listed = TodoPage::default();
        let mut request = ListRequest {
            prefix: self.prefix.clone(),
            after: after.map(|it| self.stored_key(it)),
            limit: PAGE,
            with_values: true,
        };
        loop {
            let page = self.store.list(&request).await?;
            for entry in &page.entries {
                let id =
                    entry.key.strip_prefix(&self.prefix).and_then(|it| Uuid::parse_str(it).ok());
                let todo = id.and_then(|id| read(id, &entry.value).ok());
                let Some(todo) = todo else {
                    listed.unreadable += 1;
                    continue;
                };
                listed.total += 1;
                listed.open += usize::from(!todo.completed);
                if listed.todos.len() < most {
                    listed.todos.push(todo);
                }
            }
            let last = page.entries.last().map(|it| it.key.clone());
            let seen = listed.total + listed.unreadable;
            if last.is_none() || !page.has_more || seen >= MAX_COUNTED {
                listed.is_counted = !page.has_more;
                return Ok(listed);
            }
            request.after = last;
        }
    }

    /// Changes a todo and returns the new version, or the last one if it was removed.
    async fn change(
        &self,
        asked: &str,
        change: impl Fn(&mut ProjectTodo) -> Result<ValueChange, StateError>,
    ) -> Result<ProjectTodo, StateError> {
        let missing = || StateError::NoSuchTodo(shortened(asked, SHOWN_NAME).into_owned());
        let id = Uuid::parse_str(asked.trim()).map_err(|_| missing())?;
        self.store
            .update(&self.stored_key(id), |old| {
                let changed = old.ok_or_else(missing).and_then(|old| {
                    let mut todo = read(id, old)?;
                    Ok((change(&mut todo)?, todo))
                });
                match changed {
                    Ok((change, todo)) => (change, Ok(todo)),
                    Err(error) => (ValueChange::Keep, Err(error)),
                }
            })
            .await?
    }

    fn stored_key(&self, id: Uuid) -> String {
        format!("{}{id}", self.prefix)
    }
}

fn read(id: Uuid, json: &str) -> Result<ProjectTodo, StateError> {
    let StoredTodo { task, completed } = parsed(json, "todo")?;
    Ok(ProjectTodo { id, task, completed })
}

fn stored_form(todo: &ProjectTodo) -> Result<String, StateError> {
    let stored = StoredTodo { task: todo.task.clone(), completed: todo.completed };
    serde_json::to_string(&stored)
        .map_err(|cause| StateError::Unreadable { what: "todo", cause: cause.to_string() })
}
