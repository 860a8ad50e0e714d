//! The conversations of one registry, by id.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc};

use lru::LruCache;
use parking_lot::Mutex;
use toolwright_files::Roots;
use toolwright_process::{SandboxSettings, TaskManager};
use toolwright_search::{IndexPool, IndexSettings, WorkspaceIndexes};
use toolwright_store::{KnownSettings, ProjectKey, Store};
use toolwright_web::{SearchSetup, WebClient};

use super::{ReadBeforeWrite, Session, SharedState};
use crate::agents::{AgentBook, AgentLimits};

/// How many conversations are kept. The one used longest ago is dropped first.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Finds or starts conversations.
#[derive(Debug)]
pub struct Sessions {
    shared: Arc<SharedState>,
    by_id: Mutex<LruCache<String, Arc<Session>>>,
}

impl Sessions {
    /// No conversations yet, for a workspace. Commands run in the environment of this process.
    pub fn new(roots: Arc<Roots>) -> Self {
        let shared = Arc::new(SharedState::new(roots));
        Self { shared, by_id: Mutex::new(LruCache::new(MAX_SESSIONS)) }
    }

    /// Sets whether files must be read before they are changed.
    #[must_use]
    pub fn with(mut self, read_before_write: ReadBeforeWrite) -> Self {
        Arc::make_mut(&mut self.shared).files.read_before_write = read_before_write;
        self
    }

    /// Sets the task manager that runs commands.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Arc<TaskManager>) -> Self {
        Arc::make_mut(&mut self.shared).tasks = tasks;
        self
    }

    /// Sets the sandbox of commands.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: SandboxSettings) -> Self {
        Arc::make_mut(&mut self.shared).sandbox = Arc::new(sandbox);
        self
    }

    /// Sets the store for persistent values.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        Arc::make_mut(&mut self.shared).stored.store = store;
        self
    }

    /// Sets the project, and the settings that the host described.
    #[must_use]
    pub fn with_project(mut self, project: Option<ProjectKey>, known: KnownSettings) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        shared.stored.project = project.unwrap_or_else(|| shared.stored.project.clone());
        shared.stored.known_settings = Arc::new(known);
        self
    }

    /// The state that all conversations share.
    pub fn shared(&self) -> &Arc<SharedState> {
        &self.shared
    }

    /// Sets the client that fetches pages.
    #[must_use]
    pub fn with_web(mut self, web: WebClient) -> Self {
        Arc::make_mut(&mut self.shared).web = web;
        self
    }

    /// Sets the way the web is searched.
    #[must_use]
    pub fn with_search(mut self, search: SearchSetup) -> Self {
        Arc::make_mut(&mut self.shared).search = search;
        self
    }

    /// Sets indexes of the workspace that other registries may share.
    #[must_use]
    pub fn with_indexes(mut self, pool: &IndexPool, settings: IndexSettings) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        let excludes = shared.files.global_excludes.as_deref().map(PathBuf::as_path);
        let indexes = WorkspaceIndexes::new(pool, shared.files.roots.all(), excludes, settings);
        shared.files.indexes = Arc::new(indexes);
        self
    }

    /// Closes the connections to the web, and releases the indexes.
    pub fn close_connections(&self) {
        self.shared.files.indexes.close();
        self.shared.web.close();
        if let SearchSetup::Service(service) = &self.shared.search {
            service.close();
        }
    }

    /// The client that fetches pages for all conversations.
    pub fn web(&self) -> &WebClient {
        &self.shared.web
    }

    /// The directories that file tools may touch.
    pub fn roots(&self) -> &Roots {
        &self.shared.files.roots
    }

    /// The store of all conversations.
    pub fn store(&self) -> &Store {
        &self.shared.stored.store
    }

    /// The commands of all conversations.
    pub fn tasks(&self) -> &Arc<TaskManager> {
        &self.shared.tasks
    }

    /// Sets the limits on agents.
    #[must_use]
    pub fn with_agent_limits(mut self, limits: AgentLimits) -> Self {
        Arc::make_mut(&mut self.shared).agents = Arc::new(AgentBook::new(limits));
        self
    }

    /// Drops the conversation with this id.
    pub fn forget(&self, id: &str) {
        self.by_id.lock().pop(id);
    }

    /// The conversation with this id. Starts it if there is none.
    pub fn get_or_start(&self, id: &str) -> Arc<Session> {
        let mut by_id = self.by_id.lock();
        let start = || Arc::new(Session::new(id.to_owned(), Arc::clone(&self.shared)));
        Arc::clone(by_id.get_or_insert_ref(id, start))
    }
}
