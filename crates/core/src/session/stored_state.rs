//! What the conversations of a registry store: memories, todos and settings.

use std::sync::Arc;

use toolwright_store::{
    InMemoryStore, KnownSettings, Memories, MemoryScope, ProjectKey, ProjectTodos, SessionTodos,
    Settings, StateEvents, Store, StoreLimits,
};

use super::{DEFAULT_SESSION, MCP_SESSION};

/// The stores of a registry, and the project that its values belong to.
#[derive(Clone, Debug)]
pub struct StoredState {
    /// Persistent values: memory, todos, settings, grants.
    pub store: Store,
    /// Values that end with the registry.
    own_store: Store,
    /// The key of the project in the store.
    pub project: ProjectKey,
    /// The settings with a known type.
    pub known_settings: Arc<KnownSettings>,
    /// Reports changes to the host.
    pub events: Arc<StateEvents>,
}

impl StoredState {
    pub(super) fn new(project: ProjectKey) -> Self {
        Self {
            store: in_memory(),
            own_store: in_memory(),
            project,
            known_settings: Arc::default(),
            events: Arc::default(),
        }
    }

    /// The memories of a scope.
    pub fn memories(&self, scope: MemoryScope) -> Memories<'_> {
        Memories::of(scope, &self.store, &self.project)
    }

    /// The todos of the project.
    pub fn project_todos(&self) -> ProjectTodos<'_> {
        ProjectTodos::of(&self.store, &self.project)
    }

    /// The todos of a conversation. If its id is not from the host, they end with the registry: a
    /// conversation with the same id in another process is a different one.
    pub fn session_todos(&self, session_id: &str) -> SessionTodos<'_> {
        let store = if is_from_host(session_id) { &self.store } else { &self.own_store };
        SessionTodos::of(session_id, store, &self.project)
    }

    /// The settings of the project.
    pub fn settings(&self) -> Settings<'_> {
        Settings::of(&self.store, &self.project)
    }
}

fn in_memory() -> Store {
    Store::new(Arc::new(InMemoryStore::default()), StoreLimits::default())
}

/// True for a session id from the host. Our own ids are `default` for calls without one, and a number
/// for each MCP client.
fn is_from_host(session_id: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    session_id != DEFAULT_SESSION && !session_id.strip_prefix(MCP_SESSION).is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_the_host_are_distinguished_from_ours() {
        for ours in ["default", "mcp-1", "mcp-20"] {
            assert!(!is_from_host(ours), "{ours}");
        }
        for chosen in ["", "Default", "mcp-", "mcp-a", "chat-7"] {
            assert!(is_from_host(chosen), "{chosen}");
        }
    }
}
