//! Tells the host what changed. Nothing is kept for a listener that comes late: the state itself can be read.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::{KeptGrant, SettingValue, TodoItem};

/// A change, or a problem with keeping one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", content = "data", rename_all = "camelCase")]
pub enum StateEvent {
    /// The todos of a conversation were replaced.
    Todos(TodosChange),
    /// A setting was changed.
    Config(ConfigChange),
    /// A grant was kept.
    Grant(KeptGrant),
    /// Plugin files have changed, and were read again.
    Plugins(PluginsChange),
    /// An MCP server was connected or lost, or its tools have changed. Its status, as JSON.
    McpServer(Value),
    /// Something could not be kept or read, and work goes on without it.
    Warning(String),
}

/// The todos of a conversation, before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TodosChange {
    /// The conversation.
    pub session_id: String,
    /// The todos as they are now.
    pub todos: Vec<TodoItem>,
    /// The todos as they were.
    pub previous: Vec<TodoItem>,
}

/// A setting, before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigChange {
    /// Its name.
    pub setting: String,
    /// Its value now; nothing when it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<SettingValue>,
    /// Its value before, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<SettingValue>,
    /// The conversation whose model changed it; nothing when the host did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// What reading changed plugin files led to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginsChange {
    /// True when nothing is wrong with them.
    pub success: bool,
    /// The number of tools that the registry now has.
    pub tool_count: usize,
    /// What is wrong, as JSON.
    pub errors: Vec<Value>,
}

type StateListener = Box<dyn Fn(&StateEvent) + Send + Sync>;

/// How long a change waits for its turn. A store that hangs is no reason to wait for all who came before.
const PATIENCE: Duration = Duration::from_secs(5);

/// The queue of those who change one thing.
type TurnQueue = tokio::sync::Mutex<()>;

/// The events of a registry.
#[derive(Default)]
pub struct StateEvents {
    listener: Mutex<Option<StateListener>>,
    queues: Mutex<HashMap<String, Weak<TurnQueue>>>,
}

/// The right to change a thing and to tell of it, until it is dropped.
#[derive(Debug)]
pub struct ChangeTurn(
    #[expect(dead_code, reason = "held until it is dropped")] Option<OwnedMutexGuard<()>>,
);

impl StateEvents {
    /// Passes every event from now on to a listener, which replaces the one before. It is called under a
    /// lock, so that it gets events one after the other, and must not block.
    pub fn listen(&self, listener: impl Fn(&StateEvent) + Send + Sync + 'static) {
        *self.lock() = Some(Box::new(listener));
    }

    /// Waits until nobody else here changes the same thing. Events of changes that were made at once would
    /// come in any order, and whoever shows what the last one said would show what is not there.
    pub async fn turn(&self, thing: &str) -> ChangeTurn {
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.retain(|_, queue| queue.strong_count() > 0);
            let known = queues.get(thing).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let queue = Arc::<TurnQueue>::default();
                queues.insert(thing.to_owned(), Arc::downgrade(&queue));
                queue
            })
        };
        ChangeTurn(tokio::time::timeout(PATIENCE, queue.lock_owned()).await.ok())
    }

    /// Passes an event on.
    pub fn send(&self, event: &StateEvent) {
        if let Some(listener) = &*self.lock() {
            listener(event);
        }
    }

    /// Drops the listener.
    pub fn clear(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<StateListener>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StateEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateEvents").finish_non_exhaustive()
    }
}
