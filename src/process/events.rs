//! What happened to tasks, in order and numbered. Whoever listens hears each event once; whoever was away
//! asks for those after the last number it knows.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

use super::info::TaskInfo;

/// How many events are kept for those who come late.
const KEPT: usize = 1_024;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskEventKind {
    /// The task began, or a foreground command became one.
    Started,
    /// The task ended, in whatever way.
    Ended,
}

/// One event.
#[derive(Clone, Debug, Serialize)]
pub struct TaskEvent {
    /// Its number, from 1, without gaps.
    pub sequence: u64,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: TaskEventKind,
    /// To which task, and what it was at then.
    pub task: TaskInfo,
}

type TaskEventListener = Box<dyn Fn(&TaskEvent) + Send + Sync>;

/// The events of a registry.
#[derive(Default)]
pub(super) struct TaskEvents(Mutex<TaskEventLog>);

#[derive(Default)]
struct TaskEventLog {
    last: u64,
    kept: VecDeque<TaskEvent>,
    listener: Option<TaskEventListener>,
}

impl TaskEvents {
    /// Notes an event and tells the listener. Under the lock, so that order is the same for all; the
    /// listener must not block.
    pub(super) fn tell(&self, kind: TaskEventKind, task: TaskInfo) {
        let mut log = self.lock();
        log.last += 1;
        let event = TaskEvent { sequence: log.last, kind, task };
        if let Some(listener) = &log.listener {
            listener(&event);
        }
        log.kept.push_back(event);
        if log.kept.len() > KEPT {
            log.kept.pop_front();
        }
    }

    /// Makes a function hear every event that is kept, and then every one that comes.
    pub(super) fn listen(&self, listener: TaskEventListener) {
        let mut log = self.lock();
        for event in &log.kept {
            listener(event);
        }
        log.listener = Some(listener);
    }

    /// Lets go of the listener and of every event.
    pub(super) fn clear(&self) {
        *self.lock() = TaskEventLog::default();
    }

    fn lock(&self) -> MutexGuard<'_, TaskEventLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TaskEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskEvents").field(&self.lock().last).finish()
    }
}
