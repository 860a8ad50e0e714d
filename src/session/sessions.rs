//! The conversations of one registry, by id.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use lru::LruCache;

use super::{ReadBeforeWrite, Session, SharedState};
use crate::{
    agents::{AgentBook, AgentLimits},
    net::{WebClient, search::SearchSetup},
    process::{SandboxSettings, TaskManager},
    state::{KnownSettings, ProjectKey},
    store::Store,
    team::Teams,
    workspace::{IndexPool, IndexSettings, Roots, WorkspaceIndexes},
};

/// How many conversations are kept; the one used longest ago is forgotten first.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Finds or starts conversations.
#[derive(Debug)]
pub struct Sessions {
    shared: Arc<SharedState>,
    by_id: Mutex<LruCache<String, Arc<Session>>>,
}

impl Sessions {
    /// No conversations yet, in a workspace. Commands run in this process's own environment.
    pub fn new(roots: Arc<Roots>) -> Self {
        let shared = Arc::new(SharedState::new(roots));
        Self { shared, by_id: Mutex::new(LruCache::new(MAX_SESSIONS)) }
    }

    /// Says whether files have to be read before they are changed.
    #[must_use]
    pub fn with(mut self, read_before_write: ReadBeforeWrite) -> Self {
        Arc::make_mut(&mut self.shared).read_before_write = read_before_write;
        self
    }

    /// The same, with commands run in a way of their own.
    #[must_use]
    pub fn with_tasks(mut self, tasks: Arc<TaskManager>) -> Self {
        Arc::make_mut(&mut self.shared).tasks = tasks;
        self
    }

    /// The same, with commands held to something else than by default.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: SandboxSettings) -> Self {
        Arc::make_mut(&mut self.shared).sandbox = Arc::new(sandbox);
        self
    }

    /// The same, with values kept in a store of their own.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        Arc::make_mut(&mut self.shared).store = store;
        self
    }

    /// The same, with a project and settings that the host described.
    #[must_use]
    pub fn with_project(mut self, project: Option<ProjectKey>, known: KnownSettings) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        shared.project = project.unwrap_or_else(|| shared.project.clone());
        shared.known_settings = Arc::new(known);
        self
    }

    /// What all conversations have in common.
    pub fn shared(&self) -> &Arc<SharedState> {
        &self.shared
    }

    /// The same, with pages fetched by a client of their own.
    #[must_use]
    pub fn with_web(mut self, web: WebClient) -> Self {
        Arc::make_mut(&mut self.shared).web = web;
        self
    }

    /// The same, with the web searched in a way of their own.
    #[must_use]
    pub fn with_search(mut self, search: SearchSetup) -> Self {
        Arc::make_mut(&mut self.shared).search = search;
        self
    }

    /// The same, with indexes of the workspace that other registries may share.
    #[must_use]
    pub fn with_indexes(mut self, pool: &IndexPool, settings: IndexSettings) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        let excludes = shared.global_excludes.as_deref().map(PathBuf::as_path);
        let indexes = WorkspaceIndexes::new(pool, shared.roots.all(), excludes, settings);
        shared.indexes = Arc::new(indexes);
        self
    }

    /// Closes the connections to the web, and lets go of the indexes.
    pub fn close_connections(&self) {
        self.shared.indexes.close();
        self.shared.web.close();
        if let SearchSetup::Service(service) = &self.shared.search {
            service.close();
        }
    }

    /// What fetches pages for all conversations.
    pub fn web(&self) -> &WebClient {
        &self.shared.web
    }

    /// The directories that their file tools may touch.
    pub fn roots(&self) -> &Roots {
        &self.shared.roots
    }

    /// Where their values are kept.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The commands of all conversations.
    pub fn tasks(&self) -> &Arc<TaskManager> {
        &self.shared.tasks
    }

    /// The teams of all conversations.
    pub fn teams(&self) -> &Arc<Teams> {
        &self.shared.teams
    }

    /// The same, with limits on agents.
    #[must_use]
    pub fn with_agent_limits(mut self, limits: AgentLimits) -> Self {
        Arc::make_mut(&mut self.shared).agents = Arc::new(AgentBook::new(limits));
        self
    }

    /// Forgets the conversation of that id.
    pub fn forget(&self, id: &str) {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner).pop(id);
    }

    /// The conversation of that id.
    pub fn get_or_start(&self, id: &str) -> Arc<Session> {
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || Arc::new(Session::new(id.to_owned(), Arc::clone(&self.shared)));
        Arc::clone(by_id.get_or_insert_ref(id, start))
    }
}
