//! What a conversation's commands leave for the next: the working directory, and how far the output of
//! each task has been read. The environment is not kept.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How many tasks' places are kept; a conversation reads few at a time.
const MAX_PLACES: usize = 1_000;

/// The state of a conversation's commands.
#[derive(Debug)]
pub struct ShellState(Mutex<Kept>);

#[derive(Debug)]
struct Kept {
    cwd: PathBuf,
    read_up_to: HashMap<String, u64>,
}

impl ShellState {
    /// The state before the first command.
    pub fn new(cwd: &Path) -> Self {
        Self(Mutex::new(Kept { cwd: cwd.to_owned(), read_up_to: HashMap::new() }))
    }

    /// Where the next command starts.
    pub fn cwd(&self) -> PathBuf {
        self.lock().cwd.clone()
    }

    /// Notes where the last command ended up.
    pub fn set_cwd(&self, cwd: PathBuf) {
        self.lock().cwd = cwd;
    }

    /// How many bytes of a task's output this conversation has been given.
    pub fn read_up_to(&self, task: &str) -> u64 {
        self.lock().read_up_to.get(task).copied().unwrap_or_default()
    }

    /// Notes how many it has been given.
    pub fn note_read(&self, task: &str, up_to: u64) {
        let mut kept = self.lock();
        if kept.read_up_to.len() >= MAX_PLACES && !kept.read_up_to.contains_key(task) {
            kept.read_up_to.clear();
        }
        kept.read_up_to.insert(task.to_owned(), up_to);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
