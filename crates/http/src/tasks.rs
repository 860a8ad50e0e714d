//! The background tasks: list, output, stop.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{ErrorKind, SHOWN_NAME, shortened};
use toolwright_process::{StopReason, Task, TaskInfo, TaskPage, TaskState, task_page};

use super::{
    answers::{HttpRefusal, json_answer},
    routes::NameInPath,
    service::ServiceState,
};

/// How long to wait for the end of a task after the grace period.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// The tasks of every session.
#[derive(Serialize, JsonSchema)]
pub(super) struct TaskList {
    /// The running tasks, and the ended ones that are kept, in the order in which they started.
    tasks: Vec<TaskInfo>,
}

/// Where to start reading the output of a task.
#[derive(Deserialize)]
pub(super) struct OutputQuery {
    offset: Option<u64>,
}

/// A part of the output of a task.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskOutputPart {
    /// The part as text: without escape sequences, cut between lines where possible and never inside a
    /// character.
    text: String,
    /// Where the part begins, in bytes. Larger than the requested offset if bytes in between were not kept.
    offset: u64,
    /// Where the next part begins.
    next_offset: u64,
    /// The number of bytes of output so far.
    total: u64,
    /// True when the task has ended and this is the end of its output.
    is_complete: bool,
    state: TaskState,
    /// The exit code of the shell, if it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

/// The outcome of a request to stop a task.
#[derive(Serialize, JsonSchema)]
pub(super) struct StoppedTask {
    /// True when it was running and has been stopped; false when it had already ended, or still runs.
    stopped: bool,
    task: TaskInfo,
}

pub(super) async fn list(State(state): State<ServiceState>) -> Response {
    let tasks = state.registry.pipeline.sessions.tasks().list();
    let tasks = tasks.iter().map(|it| TaskInfo::of(it)).collect();
    json_answer(StatusCode::OK, &TaskList { tasks })
}

pub(super) async fn output(
    State(state): State<ServiceState>,
    NameInPath(id): NameInPath,
    query: Result<Query<OutputQuery>, QueryRejection>,
) -> Result<Response, HttpRefusal> {
    let Query(OutputQuery { offset }) = query.map_err(|_| {
        let message = "`offset` must be a number of bytes, such as the last `nextOffset`";
        HttpRefusal::new(StatusCode::BAD_REQUEST, "InvalidQuery", message)
    })?;
    let task = find(&state, &id)?;
    let reading = Arc::clone(&task);
    // The output may be in a file.
    let page =
        tokio::task::spawn_blocking(move || task_page(&reading, offset.unwrap_or_default())).await;
    let unreadable = |cause: String| {
        let message = format!("the output of task `{}` cannot be read: {cause}", task.id);
        HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "FileReadError", message)
    };
    let page = page.map_err(|err| unreadable(err.to_string()))?;
    let TaskPage { text, offset, next_offset, total, is_complete } =
        page.map_err(|err| unreadable(err.to_string()))?;
    let TaskInfo { state, exit_code, .. } = TaskInfo::of(&task);
    let part = TaskOutputPart { text, offset, next_offset, total, is_complete, state, exit_code };
    Ok(json_answer(StatusCode::OK, &part))
}

pub(super) async fn stop(
    State(state): State<ServiceState>,
    NameInPath(id): NameInPath,
) -> Result<Response, HttpRefusal> {
    let task = find(&state, &id)?;
    let was_running = task.state() == TaskState::Running;
    let grace = state.registry.pipeline.sessions.tasks().settings.grace;
    task.stop(StopReason::Asked, grace);
    // The answer contains the state of the task, whether it ended in time or not.
    let _ = tokio::time::timeout(grace + END_TIMEOUT, task.ended()).await;
    let stopped = was_running && task.state() == TaskState::Stopped;
    Ok(json_answer(StatusCode::OK, &StoppedTask { stopped, task: TaskInfo::of(&task) }))
}

fn find(state: &ServiceState, id: &str) -> Result<Arc<Task>, HttpRefusal> {
    state.registry.pipeline.sessions.tasks().find(id).ok_or_else(|| {
        let shown = shortened(id, SHOWN_NAME);
        let message = format!("no task has the id `{shown}`; `/api/tasks` lists the tasks");
        HttpRefusal::new(StatusCode::NOT_FOUND, ErrorKind::TaskNotFound.as_str(), message)
    })
}
