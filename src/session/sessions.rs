//! The conversations of one registry, by id.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Environment, EnvironmentRules, ReadLedger, SeenTexts, ShellState, UndoLog};
use crate::{
    process::{ProcessSettings, TaskManager},
    workspace::{FileLocks, PathError, RelativePaths, Roots, WorkspacePath, walk::SearchThreads},
};

/// How many conversations are kept; the one used longest ago is forgotten first.
const CAPACITY: usize = 1_000;

/// Whether a file has to be read, and still be what was read, before it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBeforeWrite {
    /// It has.
    #[default]
    Required,
    /// Every file may be changed; a host that keeps watch itself asks for it.
    NotRequired,
}

/// One conversation with a model.
#[derive(Debug)]
pub struct Session {
    /// The host's id of it.
    pub id: String,
    /// The directories its file tools may touch.
    pub roots: Arc<Roots>,
    /// What it has read.
    pub ledger: ReadLedger,
    /// Whether it has to have read a file before it changes it.
    pub read_before_write: ReadBeforeWrite,
    /// What all sessions of the registry have read, as far as it is remembered.
    pub seen_texts: Arc<SeenTexts>,
    /// What all sessions of the registry have changed.
    pub undo: Arc<UndoLog>,
    /// The queues of those who change files.
    pub locks: FileLocks,
    /// The threads that searches share.
    pub search_threads: SearchThreads,
    /// The file of the user's own ignore rules, if git knows one.
    pub global_excludes: Option<Arc<PathBuf>>,
    /// The commands of the registry.
    pub tasks: Arc<TaskManager>,
    /// Where its commands run, and what it has seen of their output.
    pub shell: ShellState,
}

impl Session {
    /// Finds the place a path means, for reading: beside the workspace, the output files of commands that
    /// this conversation ran. Those of others are as far outside as any file of theirs.
    pub fn resolve_for_reading(
        &self,
        asked: &str,
        relative: RelativePaths,
    ) -> Result<WorkspacePath, PathError> {
        self.roots.resolve(asked, relative).or_else(|refused| match refused {
            PathError::Outside { .. } => Roots::new(self.tasks.files(), &[])
                .and_then(|files| files.resolve(asked, RelativePaths::Refused))
                .ok()
                .filter(|file| self.is_own_output(file))
                .ok_or(refused),
            refused => Err(refused),
        })
    }
}

impl Session {
    fn is_own_output(&self, file: &WorkspacePath) -> bool {
        // The directory of output files may be named through a link, which the resolved path has followed.
        let name = file.absolute().strip_prefix(file.root());
        name.is_ok_and(|it| self.tasks.is_output_of(&self.id, &self.tasks.files().join(it)))
    }
}

/// Finds or starts conversations.
#[derive(Debug)]
pub struct Sessions {
    roots: Arc<Roots>,
    locks: FileLocks,
    read_before_write: ReadBeforeWrite,
    seen_texts: Arc<SeenTexts>,
    undo: Arc<UndoLog>,
    search_threads: SearchThreads,
    global_excludes: Option<Arc<PathBuf>>,
    tasks: Arc<TaskManager>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<String, (Arc<Session>, u64)>,
    clock: u64,
}

impl Sessions {
    /// No conversations yet, in a workspace. Commands run in this process's own environment.
    pub fn new(roots: Arc<Roots>) -> Self {
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
            locks: FileLocks::default(),
            tasks: TaskManager::new(settings),
            read_before_write: ReadBeforeWrite::default(),
            seen_texts: Arc::default(),
            undo: Arc::default(),
            search_threads: SearchThreads::of_this_machine(),
            global_excludes: ignore::gitignore::gitconfig_excludes_path().map(Arc::new),
            known: Mutex::default(),
        }
    }

    /// Says whether files have to be read before they are changed.
    #[must_use]
    pub fn with(mut self, read_before_write: ReadBeforeWrite) -> Self {
        self.read_before_write = read_before_write;
        self
    }

    /// The same, with commands run in a way of their own.
    #[must_use]
    pub fn with_tasks(self, tasks: Arc<TaskManager>) -> Self {
        Self { tasks, ..self }
    }

    /// The commands of all conversations.
    pub fn tasks(&self) -> &Arc<TaskManager> {
        &self.tasks
    }

    /// The conversation of that id.
    pub fn get_or_start(&self, id: &str) -> Arc<Session> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let now = known.clock;
        if let Some((session, used)) = known.by_id.get_mut(id) {
            *used = now;
            return Arc::clone(session);
        }
        let session = Arc::new(Session {
            id: id.to_owned(),
            roots: Arc::clone(&self.roots),
            ledger: ReadLedger::default(),
            read_before_write: self.read_before_write,
            seen_texts: Arc::clone(&self.seen_texts),
            undo: Arc::clone(&self.undo),
            locks: self.locks.clone(),
            search_threads: self.search_threads.clone(),
            global_excludes: self.global_excludes.clone(),
            tasks: Arc::clone(&self.tasks),
            shell: ShellState::new(self.roots.first()),
        });
        known.by_id.insert(id.to_owned(), (Arc::clone(&session), now));
        if known.by_id.len() > CAPACITY
            && let Some(oldest) =
                known.by_id.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone())
        {
            known.by_id.remove(&oldest);
        }
        session
    }
}
