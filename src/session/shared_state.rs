//! What lasts as long as a registry and is shared by all its conversations.

use std::{path::PathBuf, sync::Arc};

use super::{Environment, EnvironmentRules, SeenTexts, UndoLog};
use crate::{
    agents::AgentBook,
    net::{WebClient, WebSettings, search::SearchSetup},
    process::{ProcessSettings, SandboxSettings, TaskManager},
    state::{
        KnownSettings, Memories, MemoryScope, ProjectKey, ProjectTodos, SessionTodos, Settings,
        StateEvents,
    },
    store::{InMemoryStore, Store, StoreLimits},
    team::Teams,
    workspace::{FileLocks, Roots, WorkspaceIndexes, walk::SearchThreads},
};

/// The session of calls that name none.
pub const DEFAULT_SESSION: &str = "default";

/// What the id of an MCP client's session begins with.
pub const MCP_SESSION: &str = "mcp-";

/// Whether a file has to be read, and still be what was read, before it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBeforeWrite {
    /// It has to be read first.
    #[default]
    Required,
    /// Every file may be changed; a host that keeps watch itself asks for it.
    NotRequired,
}

/// What all conversations of one registry work with.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// The directories that file tools may touch.
    pub roots: Arc<Roots>,
    /// Whether a conversation has to have read a file before it changes it.
    pub(crate) read_before_write: ReadBeforeWrite,
    /// What any conversation has read, as far as it is remembered.
    pub(crate) seen_texts: Arc<SeenTexts>,
    /// What any conversation has changed.
    pub(crate) undo: Arc<UndoLog>,
    /// The queues of those who change files.
    pub(crate) locks: FileLocks,
    /// The threads that searches share.
    pub(crate) search_threads: SearchThreads,
    /// The indexes of the roots.
    pub indexes: Arc<WorkspaceIndexes>,
    /// The file of the user's own ignore rules, if git knows one.
    pub(crate) global_excludes: Option<Arc<PathBuf>>,
    /// Values that last: memory, todos, settings, grants.
    pub store: Store,
    /// Values that end with the registry.
    own_store: Store,
    /// The name under which the store keeps what belongs to the project.
    pub project: ProjectKey,
    /// The settings whose type is known.
    pub known_settings: Arc<KnownSettings>,
    /// Tells the host of changes.
    pub events: Arc<StateEvents>,
    /// The teams of agents, and their messages.
    pub teams: Arc<Teams>,
    /// The agents that run, and those that can be resumed.
    pub agents: Arc<AgentBook>,
    /// The commands that run, and those that ran.
    pub tasks: Arc<TaskManager>,
    /// What commands are held to.
    pub sandbox: Arc<SandboxSettings>,
    /// Fetches pages.
    pub web: WebClient,
    /// What searches the web.
    pub search: SearchSetup,
}

impl SharedState {
    /// The state of a new registry. Commands run in this process's own environment.
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

    /// The todos of a conversation. Those of a conversation that the host gave no id end with the registry:
    /// another process has a conversation of the same id, which is not the same conversation.
    pub fn session_todos(&self, session_id: &str) -> SessionTodos<'_> {
        let store = if has_own_id(session_id) { &self.store } else { &self.own_store };
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

/// True for the id of a conversation that a host chose. Ours are `default` for calls without one, and a
/// number for each MCP client.
fn has_own_id(session_id: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    session_id != DEFAULT_SESSION && !session_id.strip_prefix(MCP_SESSION).is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_a_host_chose_is_told_from_ours() {
        for ours in ["default", "mcp-1", "mcp-20"] {
            assert!(!has_own_id(ours), "{ours}");
        }
        for chosen in ["", "Default", "mcp-", "mcp-a", "chat-7"] {
            assert!(has_own_id(chosen), "{chosen}");
        }
    }
}
