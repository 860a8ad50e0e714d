//! One conversation with a model: what it has read, and where its commands run.

use std::sync::Arc;

use super::{ReadLedger, SharedState, ShellState};
use crate::workspace::{PathError, RelativePaths, Roots, WorkspacePath};

/// One conversation with a model. Its own state is apart from what it shares with the other conversations of
/// the registry.
#[derive(Debug)]
pub struct Session {
    /// The id that the host gave it.
    pub id: String,
    /// The content of the files that it has read.
    pub ledger: ReadLedger,
    /// Where its commands run, and what it has seen of their output.
    pub(crate) shell: ShellState,
    /// What lasts as long as the registry.
    pub shared: Arc<SharedState>,
}

impl Session {
    pub(super) fn new(id: String, shared: Arc<SharedState>) -> Self {
        let shell = ShellState::new(shared.roots.first());
        Self { id, ledger: ReadLedger::default(), shell, shared }
    }

    /// Finds the place a path means, for reading. Beside the workspace, a conversation may read the output
    /// files of the commands that it ran itself; those of other conversations are outside for it.
    pub(crate) fn resolve_for_reading(
        &self,
        asked: &str,
        relative: RelativePaths<'_>,
    ) -> Result<WorkspacePath, PathError> {
        self.shared.roots.resolve(asked, relative).or_else(|refused| match refused {
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
        // The directory of output files may be named through a link, which the resolved path has followed.
        let name = file.absolute().strip_prefix(file.root());
        name.is_ok_and(|it| tasks.is_output_of(&self.id, &tasks.files().join(it)))
    }
}
