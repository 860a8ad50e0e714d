//! One conversation with a model: the files it has read, and the directory its commands run in.

use std::sync::Arc;

use toolwright_files::{PathError, RelativePaths, Roots, WorkspacePath};

use super::{ReadLedger, SharedState, ShellState};

/// One conversation with a model. Its own state is separate from the state it shares with the other
/// conversations of the registry.
#[derive(Debug)]
pub struct Session {
    /// The id from the host.
    pub id: String,
    /// The content of the files it has read.
    pub ledger: ReadLedger,
    /// The working directory of its commands, and how much of their output it has read.
    pub shell: ShellState,
    /// State that lasts as long as the registry.
    pub shared: Arc<SharedState>,
}

impl Session {
    pub(super) fn new(id: String, shared: Arc<SharedState>) -> Self {
        let shell = ShellState::new(shared.files.roots.first());
        Self { id, ledger: ReadLedger::default(), shell, shared }
    }

    /// Resolves a path for reading. Besides the workspace, a conversation may read the output files of
    /// its own commands, but not those of other conversations.
    pub fn resolve_for_reading(
        &self,
        asked: &str,
        relative: RelativePaths<'_>,
    ) -> Result<WorkspacePath, PathError> {
        self.shared.files.roots.resolve(asked, relative).or_else(|refused| match refused {
            PathError::Outside { .. } => Roots::new(self.shared.tasks.files(), &[])
                .and_then(|files| files.resolve(asked, RelativePaths::FromFirstRoot))
                .ok()
                .filter(|file| self.is_own_output(file))
                .ok_or(refused),
            refused => Err(refused),
        })
    }

    fn is_own_output(&self, file: &WorkspacePath) -> bool {
        let tasks = &self.shared.tasks;
        // The directory of output files may be named through a link, which the resolved path has
        // followed.
        let name = file.absolute().strip_prefix(file.root());
        name.is_ok_and(|it| tasks.is_output_of(&self.id, &tasks.files().join(it)))
    }
}
