//! `TodoWrite`: the todos of a conversation, replaced as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{CallPlan, Content, Tool, ToolContext, ToolOutput};
use toolwright_store::{StateEvent, TodoItem, TodoStatus, TodosChange};

use crate::failures::FailedState;

#[derive(Default)]
pub(super) struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The whole list, which replaces the old one.
    #[schemars(length(max = 1_000))]
    todos: Vec<TodoItem>,
}

/// The list before and after the call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplacedTodos {
    /// The list as it was.
    old_todos: Vec<TodoItem>,
    /// The list as it is now.
    new_todos: Vec<TodoItem>,
}

/// The list that replaces the old one.
pub(super) struct NewTodos(Vec<TodoItem>);

impl Tool for TodoWrite {
    type Input = Input;
    type Plan = NewTodos;

    const NAME: &'static str = "TodoWrite";
    const TITLE: &'static str = "Update Todos";
    const DESCRIPTION: &'static str = include_str!("../description/todo_write.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const IS_READ_ONLY: bool = false;
    const KIND: ToolKind = ToolKind::PLAIN;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<NewTodos, ToolError> {
        for (index, todo) in input.todos.iter().enumerate() {
            for (name, text) in [("content", &todo.content), ("activeForm", &todo.active_form)] {
                if text.trim().is_empty() {
                    let message =
                        format!("parameter `todos[{index}].{name}`: expected a text, got blanks");
                    return Err(ToolError::new(ErrorKind::Validation, message));
                }
            }
        }
        Ok(NewTodos(input.todos))
    }
}

impl CallPlan for NewTodos {
    type Output = ReplacedTodos;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        format!("Update the todo list ({})", counted(&self.0))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<ReplacedTodos>, ToolError> {
        let shared = &cx.session.shared;
        let _turn = shared.stored.events.turn(&format!("todos/{}", cx.session.id)).await;
        cx.commitment.commit()?;
        let previous = shared
            .stored
            .session_todos(&cx.session.id)
            .replace(&self.0)
            .await
            .map_err(|error| FailedState { error, tool_kind: ErrorKind::Todo })?;
        shared.stored.events.send(&StateEvent::Todos(TodosChange {
            session_id: cx.session.id.clone(),
            todos: self.0.clone(),
            previous: previous.clone(),
        }));
        let mut output =
            ToolOutput::text(format!("The todo list was updated: {}", counted(&self.0)));
        let running = count(&self.0, TodoStatus::InProgress);
        if running > 1 {
            output.content.push(Content::text(format!(
                "[{running} todos are in_progress; better have one at a time]"
            )));
        }
        Ok(output.with_data(ReplacedTodos { old_todos: previous, new_todos: self.0 }))
    }
}

fn count(todos: &[TodoItem], status: TodoStatus) -> usize {
    todos.iter().filter(|it| it.status == status).count()
}

/// The number of todos of each status, as text.
fn counted(todos: &[TodoItem]) -> String {
    if todos.is_empty() {
        return "it is empty".to_owned();
    }
    format!(
        "{} pending, {} in progress, {} completed",
        count(todos, TodoStatus::Pending),
        count(todos, TodoStatus::InProgress),
        count(todos, TodoStatus::Completed)
    )
}
