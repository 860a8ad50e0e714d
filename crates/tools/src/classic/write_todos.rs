//! `write_todos`: adds, completes, removes and lists the todos of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind, shown_text};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};
use toolwright_store::{ProjectTodo, StateError, TodoPage};
use uuid::Uuid;

use crate::{
    failures::FailedState,
    listing::{lines_and_notes, lines_that_fit},
};

/// The maximum number of todos in one list.
const MAX_LISTED: usize = 1_000;
/// The longest task in bytes.
const MAX_TASK: usize = 10_000;

#[derive(Default)]
pub(super) struct WriteTodos;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// What to do.
    action: TodoAction,
    /// What is to be done, for add.
    #[serde(default)]
    task: Option<String>,
    /// The id of a todo, for complete and remove.
    #[serde(default)]
    id: Option<String>,
    /// For list: only todos after the one with this id, which is the last that an earlier list showed.
    #[serde(default)]
    after: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TodoAction {
    Add,
    Complete,
    Remove,
    List,
}

/// The todos that a call changed or listed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TodosData {
    /// The todo that was added, completed or removed, or the todos of the list.
    todos: Vec<TodoFacts>,
    /// For list: the number of todos.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// How many of them are not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<usize>,
    /// Whether all todos are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TodoFacts {
    id: String,
    task: String,
    completed: bool,
    /// In milliseconds since 1970.
    created_at: u64,
}

impl TodoFacts {
    fn of(todo: &ProjectTodo) -> Self {
        Self {
            id: todo.id.to_string(),
            task: todo.task.clone(),
            completed: todo.completed,
            created_at: todo.created_at(),
        }
    }
}

pub(super) struct Plan {
    step: TodoStep,
    /// The location of the store, for display.
    location: String,
}

/// An action with its parameters.
enum TodoStep {
    Add { task: String },
    Complete { id: String },
    Remove { id: String },
    List { after: Option<Uuid> },
}

impl Tool for WriteTodos {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "write_todos";
    const TITLE: &'static str = "Manage Todos";
    const DESCRIPTION: &'static str = include_str!("../description/write_todos.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const IS_READ_ONLY: bool = false;
    const KIND: ToolKind = ToolKind::PLAIN.twin_of("TodoWrite");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let Input { action, task, id, after } = input;
        let wrong = |message: &str| ToolError::new(ErrorKind::Todo, message);
        let id = id.filter(|it| !it.is_empty());
        let step = match action {
            TodoAction::Add => {
                let task = task.filter(|it| !it.trim().is_empty());
                let task = task.ok_or_else(|| wrong("Task required for add action"))?;
                if task.len() > MAX_TASK {
                    let (what, bytes) = ("task", task.len());
                    return Err(failed(StateError::NameTooLong { what, bytes, most: MAX_TASK }));
                }
                TodoStep::Add { task }
            }
            TodoAction::Complete => TodoStep::Complete {
                id: id.ok_or_else(|| wrong("ID required for complete action"))?,
            },
            TodoAction::Remove => {
                TodoStep::Remove { id: id.ok_or_else(|| wrong("ID required for remove action"))? }
            }
            TodoAction::List => {
                let read = |it: String| {
                    Uuid::parse_str(it.trim()).map_err(|_| failed(StateError::NoSuchTodo(it)))
                };
                TodoStep::List { after: after.map(read).transpose()? }
            }
        };
        Ok(Plan { step, location: cx.session.shared.stored.store.location() })
    }
}

impl CallPlan for Plan {
    type Output = TodosData;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn locations(&self, _accesses: &[Access]) -> Vec<String> {
        vec![self.location.clone()]
    }

    fn describe(&self) -> String {
        let action = match &self.step {
            TodoStep::Add { .. } => "add",
            TodoStep::Complete { .. } => "complete",
            TodoStep::Remove { .. } => "remove",
            TodoStep::List { .. } => "list",
        };
        format!("Todo {action}")
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<TodosData>, ToolError> {
        let todos = cx.session.shared.stored.project_todos();
        let (todo, done) = match self.step {
            TodoStep::Add { task } => {
                cx.commitment.commit()?;
                (todos.add(&task).await, "Added")
            }
            TodoStep::Complete { id } => {
                cx.commitment.commit()?;
                (todos.complete(&id).await, "Completed")
            }
            TodoStep::Remove { id } => {
                cx.commitment.commit()?;
                (todos.remove(&id).await, "Removed")
            }
            TodoStep::List { after } => {
                let page = todos.list(after, MAX_LISTED).await.map_err(failed)?;
                return Ok(listed(page, after));
            }
        };
        let todo = todo.map_err(failed)?;
        let data = TodosData {
            todos: vec![TodoFacts::of(&todo)],
            total: None,
            open: None,
            complete: None,
        };
        Ok(ToolOutput::text(format!("{done} todo: {}", todo.id))
            .with_data(data)
            .with_display(format!("{done}: {}", shown_text(&todo.task))))
    }
}

fn failed(error: StateError) -> ToolError {
    FailedState { error, tool_kind: ErrorKind::Todo }.into()
}

fn listed(page: TodoPage, after: Option<Uuid>) -> ToolOutput<TodosData> {
    let TodoPage { todos, total, open, unreadable, is_counted } = page;
    let lines = lines_that_fit(todos.iter().map(todo_line));
    let shown = lines.len();
    let complete = is_counted && shown == total;
    let last = shown.checked_sub(1).and_then(|it| todos.get(it));
    let mut notes = Vec::new();
    match last {
        None if after.is_some() => notes.push("no todos come after that one".to_owned()),
        None => notes.push("no todos".to_owned()),
        Some(last) if !complete => {
            let at_least = if is_counted { "" } else { "more than " };
            notes.push(format!(
                "showing {shown} of {at_least}{total} todos, {open} of them open; set after to {} for the next",
                last.id
            ));
        }
        Some(_) => {}
    }
    match unreadable {
        0 => {}
        1 => notes.push("1 entry cannot be read and was left as it is".to_owned()),
        _ => notes.push(format!("{unreadable} entries cannot be read and were left as they are")),
    }
    let content = lines_and_notes(&lines, &notes);
    let data = TodosData {
        todos: todos.iter().take(shown).map(TodoFacts::of).collect(),
        total: Some(total),
        open: Some(open),
        complete: Some(complete),
    };
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }
        .with_display(format!("{total} todos"))
}

/// A todo as text. Further lines of its task are indented, so that they do not look like todos.
fn todo_line(ProjectTodo { id, task, completed }: &ProjectTodo) -> String {
    let mark = if *completed { 'x' } else { ' ' };
    format!("[{mark}] {id}: {}", task.replace("\r\n", "\n").replace(['\r', '\n'], "\n    "))
}
