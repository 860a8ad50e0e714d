//! State that is kept between the commands of a conversation: the working directory, and how much of
//! each task's output has been read. Environment variables are not kept.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

/// When this many read positions are stored, those of dropped tasks are removed. There are never this
/// many tasks at the same time.
const MAX_POSITIONS: usize = 1_000;

/// The state of a conversation's commands.
#[derive(Debug)]
pub struct ShellState {
    kept: Mutex<KeptShellState>,
    /// Locked from [`Self::read_up_to`] to [`Self::note_read`], so that two readers do not get the same
    /// output.
    pub reading: tokio::sync::Mutex<()>,
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
    pub fn cwd(&self) -> PathBuf {
        self.kept.lock().cwd.clone()
    }

    /// Records the directory in which the last command ended.
    pub fn set_cwd(&self, cwd: PathBuf) {
        self.kept.lock().cwd = cwd;
    }

    /// How many bytes of a task's output this conversation has received.
    pub fn read_up_to(&self, task: &str) -> u64 {
        self.kept.lock().read_up_to.get(task).copied().unwrap_or_default()
    }

    /// Records how many bytes it has received. Once there are many positions, those of dropped tasks
    /// are removed.
    pub fn note_read(&self, task: &str, up_to: u64, is_known: impl Fn(&str) -> bool) {
        let mut kept = self.kept.lock();
        if kept.read_up_to.len() >= MAX_POSITIONS && !kept.read_up_to.contains_key(task) {
            kept.read_up_to.retain(|id, _| is_known(id));
        }
        kept.read_up_to.insert(task.to_owned(), up_to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positions_of_dropped_tasks_are_removed() {
        let state = ShellState::new(Path::new("/"));
        for number in 0..MAX_POSITIONS as u64 {
            state.note_read(&format!("task_{number}"), number, |_| false);
        }
        state.note_read("new", 7, |id| id == "task_5");
        let positions = ["task_4", "task_5", "new"].map(|id| state.read_up_to(id));
        assert_eq!(positions, [0, 5, 7]);
    }
}
