//! Reports changes to the host. Events are not kept for a late listener, because it can read the state
//! itself.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::{KeptGrant, SettingValue, TodoItem};

/// A change, or a problem with storing one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", content = "data", rename_all = "camelCase")]
pub enum StateEvent {
    /// The todos of a conversation were replaced.
    Todos(TodosChange),
    /// A setting was changed.
    Config(ConfigChange),
    /// A grant was stored.
    Grant(KeptGrant),
    /// Plugin files changed and were read again.
    Plugins(PluginsChange),
    /// An MCP server was connected or lost, or its tools changed. Contains its status as JSON.
    McpServer(Value),
    /// Something could not be stored or read, and work continues without it.
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
    /// The value now; `None` if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<SettingValue>,
    /// The previous value, if it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<SettingValue>,
    /// The conversation whose model changed it; `None` if the host did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// The result of reading changed plugin files.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginsChange {
    /// True if all files are valid.
    pub success: bool,
    /// The number of tools in the registry now.
    pub tool_count: usize,
    /// The errors, as JSON.
    pub errors: Vec<Value>,
}

type StateListener = Box<dyn Fn(&StateEvent) + Send + Sync>;

/// How long a change waits for its turn. A store that hangs must not block all later changes.
const PATIENCE: Duration = Duration::from_secs(5);

/// The queue of changes to one thing.
type TurnQueue = tokio::sync::Mutex<()>;

/// The events of a registry.
#[derive(Default)]
pub struct StateEvents {
    listener: Mutex<Option<StateListener>>,
    queues: Mutex<HashMap<String, Weak<TurnQueue>>>,
}

/// The exclusive right to change a thing and send the event, until it is dropped.
#[derive(Debug)]
pub struct ChangeTurn(
    #[expect(dead_code, reason = "only its drop has an effect: it releases the lock")]
    Option<OwnedMutexGuard<()>>,
);

impl StateEvents {
    /// Passes every event from now on to `listener`, which replaces the previous one. It is called under a
    /// lock, so that it gets events in order, and must not block.
    pub fn listen(&self, listener: impl Fn(&StateEvent) + Send + Sync + 'static) {
        *self.listener.lock() = Some(Box::new(listener));
    }

    /// Waits until no other change to the same thing is running in this registry. Without this, events of
    /// simultaneous changes could arrive in the wrong order, and a listener would show an outdated value.
    pub async fn turn(&self, thing: &str) -> ChangeTurn {
        let queue = {
            let mut queues = self.queues.lock();
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

    /// Passes an event to the listener.
    pub fn send(&self, event: &StateEvent) {
        if let Some(listener) = &*self.listener.lock() {
            listener(event);
        }
    }

    /// Drops the listener.
    pub fn clear(&self) {
        *self.listener.lock() = None;
    }
}

impl fmt::Debug for StateEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateEvents").finish_non_exhaustive()
    }
}
