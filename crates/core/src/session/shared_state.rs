//! State that lasts as long as a registry and is shared by all its conversations.

use std::{path::PathBuf, sync::Arc};

use toolwright_files::{FileLocks, Roots};
use toolwright_process::{ProcessSettings, SandboxSettings, TaskManager};
use toolwright_search::WorkspaceIndexes;
use toolwright_store::{
    InMemoryStore, KnownSettings, Memories, MemoryScope, ProjectKey, ProjectTodos, SessionTodos,
    Settings, StateEvents, Store, StoreLimits,
};
use toolwright_team::Teams;
use toolwright_walk::SearchThreads;
use toolwright_web::{SearchSetup, WebClient, WebSettings};

use super::{Environment, EnvironmentRules, SeenTexts, UndoLog};
use crate::agents::AgentBook;

/// The session of calls without a session id.
pub const DEFAULT_SESSION: &str = "default";

/// The prefix of the session ids of MCP clients.
pub const MCP_SESSION: &str = "mcp-";

/// Whether a file must be read, and must not have changed since, before it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBeforeWrite {
    /// It must be read first.
    #[default]
    Required,
    /// Every file may be changed. For hosts that check this themselves.
    NotRequired,
}

/// The state that all conversations of one registry share.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// The directories that file tools may touch.
    pub roots: Arc<Roots>,
    /// Whether a conversation must have read a file before it changes it.
    pub read_before_write: ReadBeforeWrite,
    /// The texts that conversations have read.
    pub seen_texts: Arc<SeenTexts>,
    /// The changes that conversations have made.
    pub undo: Arc<UndoLog>,
    /// The queues of writers for each file.
    pub locks: FileLocks,
    /// The threads that searches share.
    pub search_threads: SearchThreads,
    /// The indexes of the roots.
    pub indexes: Arc<WorkspaceIndexes>,
    /// The file with the user's global ignore rules, if git has one.
    pub global_excludes: Option<Arc<PathBuf>>,
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
    /// The teams of agents, and their messages.
    pub teams: Arc<Teams>,
    /// Running agents, and agents that can be resumed.
    pub agents: Arc<AgentBook>,
    /// Running commands, and ended ones.
    pub tasks: Arc<TaskManager>,
    /// The sandbox settings of commands.
    pub sandbox: Arc<SandboxSettings>,
    /// Fetches pages.
    pub web: WebClient,
    /// Searches the web.
    pub search: SearchSetup,
}

impl SharedState {
    /// The state of a new registry. Commands run in the environment of this process.
    pub(super) fn new(roots: Arc<Roots>) -> Self {
        let environment = Environment::of_process();
        let mut settings = ProcessSettings::new(
            environment.shell(),
            environment.for_commands(&EnvironmentRules::default()),
            environment.temporary_directory().to_owned(),
        );
        settings.helper_shell = environment.system_shell();
        settings.helper_environment = environment.for_hooks();
        let project = ProjectKey::of_directory(roots.first());
        Self {
            roots,
            read_before_write: ReadBeforeWrite::default(),
            seen_texts: Arc::default(),
            undo: Arc::default(),
            locks: FileLocks::default(),
            search_threads: SearchThreads::of_this_machine(),
            indexes: Arc::default(),
            global_excludes: ignore::gitignore::gitconfig_excludes_path().map(Arc::new),
            store: in_memory(),
            own_store: in_memory(),
            project,
            known_settings: Arc::default(),
            events: Arc::default(),
            teams: Arc::default(),
            agents: Arc::default(),
            tasks: TaskManager::new(settings),
            sandbox: Arc::default(),
            web: WebClient::new(WebSettings::from_environment(&|name| environment.text_of(name))),
            search: SearchSetup::Missing,
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
