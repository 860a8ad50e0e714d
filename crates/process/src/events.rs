//! The events of background tasks, in order and numbered without gaps. Recent events are kept, so a
//! late listener still gets them.

use std::{collections::VecDeque, fmt};

use parking_lot::Mutex;
use serde::Serialize;

use super::info::TaskInfo;

/// How many events are kept for a late listener.
const MAX_KEPT_EVENTS: usize = 1_024;

/// What an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskEventKind {
    /// The task started, or a foreground command became a background task.
    Started,
    /// The task ended, for whatever reason.
    Ended,
}

/// One event of one task.
#[derive(Clone, Debug, Serialize)]
pub struct TaskEvent {
    /// The number of the event in its registry, from 1, without gaps.
    pub sequence: u64,
    /// What the event reports.
    #[serde(rename = "type")]
    pub kind: TaskEventKind,
    /// The task as it was when the event happened.
    pub task: TaskInfo,
}

type TaskEventListener = Box<dyn Fn(&TaskEvent) + Send + Sync>;

/// The events of a registry's tasks.
#[derive(Default)]
pub(super) struct TaskEvents(Mutex<TaskEventLog>);

#[derive(Default)]
struct TaskEventLog {
    last: u64,
    kept: VecDeque<TaskEvent>,
    listener: Option<TaskEventListener>,
    watchers: Vec<TaskEventListener>,
}

impl TaskEvents {
    /// Records an event and passes it to the listener and the watchers. They are called under the
    /// lock, so they get events in order. They must not block.
    pub(super) fn record(&self, kind: TaskEventKind, task: TaskInfo) {
        let mut log = self.0.lock();
        log.last += 1;
        let event = TaskEvent { sequence: log.last, kind, task };
        for listener in log.listener.iter().chain(&log.watchers) {
            listener(&event);
        }
        log.kept.push_back(event);
        if log.kept.len() > MAX_KEPT_EVENTS {
            log.kept.pop_front();
        }
    }

    /// Passes every kept event to a listener, and from then on every new one.
    pub(super) fn listen(&self, listener: TaskEventListener) {
        let mut log = self.0.lock();
        for event in &log.kept {
            listener(event);
        }
        log.listener = Some(listener);
    }

    /// Passes every new event to a watcher, besides the listener.
    pub(super) fn watch(&self, watcher: TaskEventListener) {
        self.0.lock().watchers.push(watcher);
    }

    /// Drops the listener, the watchers and all kept events.
    pub(super) fn clear(&self) {
        *self.0.lock() = TaskEventLog::default();
    }
}

impl fmt::Debug for TaskEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskEvents").field(&self.0.lock().last).finish()
    }
}
