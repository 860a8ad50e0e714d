//! What is kept between the commands of a conversation: the working directory, and how much of each task's
//! output has been read. Environment variables are not kept.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// When read positions of this many tasks are kept, those of forgotten tasks are removed. There are never
/// this many tasks at a time.
const MAX_PLACES: usize = 1_000;

/// The state of a conversation's commands.
#[derive(Debug)]
pub(crate) struct ShellState {
    kept: Mutex<KeptShellState>,
    /// Held from [`Self::read_up_to`] to [`Self::note_read`], so that two readers do not get the same
    /// output.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct KeptShellState {
    cwd: PathBuf,
    read_up_to: HashMap<String, u64>,
}

impl ShellState {
    /// The state before the first command.
    pub(crate) fn new(cwd: &Path) -> Self {
        let kept = Mutex::new(KeptShellState { cwd: cwd.to_owned(), read_up_to: HashMap::new() });
        Self { kept, reading: tokio::sync::Mutex::default() }
    }

    /// The directory in which the next command starts.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.lock().cwd.clone()
    }

    /// Notes the directory in which the last command ended.
    pub(crate) fn set_cwd(&self, cwd: PathBuf) {
        self.lock().cwd = cwd;
    }

    /// How many bytes of a task's output this conversation has been given.
    pub(crate) fn read_up_to(&self, task: &str) -> u64 {
        self.lock().read_up_to.get(task).copied().unwrap_or_default()
    }

    /// Notes how many bytes it has been given. Once there are many tasks, positions of forgotten ones are
    /// removed.
    pub(crate) fn note_read(&self, task: &str, up_to: u64, is_known: impl Fn(&str) -> bool) {
        let mut kept = self.lock();
        if kept.read_up_to.len() >= MAX_PLACES && !kept.read_up_to.contains_key(task) {
            kept.read_up_to.retain(|id, _| is_known(id));
        }
        kept.read_up_to.insert(task.to_owned(), up_to);
    }

    fn lock(&self) -> MutexGuard<'_, KeptShellState> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_of_forgotten_tasks_are_forgotten() {
        let state = ShellState::new(Path::new("/"));
        for number in 0..MAX_PLACES as u64 {
            state.note_read(&format!("task_{number}"), number, |_| false);
        }
        state.note_read("new", 7, |id| id == "task_5");
        let places = ["task_4", "task_5", "new"].map(|id| state.read_up_to(id));
        assert_eq!(places, [0, 5, 7]);
    }
}
