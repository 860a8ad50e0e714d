//! What lasts as long as a registry and is shared by all its conversations.

use std::{path::PathBuf, sync::Arc};

use super::{Environment, EnvironmentRules, SeenTexts, UndoLog};
use crate::{
    net::{WebClient, WebSettings},
    process::{ProcessSettings, TaskManager},
    store::{InMemoryStore, Store, StoreLimits},
    workspace::{FileLocks, Roots, walk::SearchThreads},
};

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
    /// The file of the user's own ignore rules, if git knows one.
    pub(crate) global_excludes: Option<Arc<PathBuf>>,
    /// Values that last: memory, todos, settings, grants.
    pub store: Store,
    /// The commands that run, and those that ran.
    pub tasks: Arc<TaskManager>,
    /// Fetches pages.
    pub web: WebClient,
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
        Self {
            roots,
            read_before_write: ReadBeforeWrite::default(),
            seen_texts: Arc::default(),
            undo: Arc::default(),
            locks: FileLocks::default(),
            search_threads: SearchThreads::of_this_machine(),
            global_excludes: ignore::gitignore::gitconfig_excludes_path().map(Arc::new),
            store: Store::new(Arc::new(InMemoryStore::default()), StoreLimits::default()),
            tasks: TaskManager::new(settings),
            web: WebClient::new(WebSettings::from_environment(&|name| environment.variable(name))),
        }
    }
}
