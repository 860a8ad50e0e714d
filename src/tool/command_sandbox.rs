//! What the commands of a call are held to. A caller hands this in, so that tools and hooks start commands in a
//! sandbox without knowing policy.

use std::{fmt, path::PathBuf, sync::Arc, time::SystemTime};

use tokio_util::sync::CancellationToken;

use crate::{
    error::ToolError,
    process::sandbox::{CommandDoor, SandboxPlan},
};

/// The sandbox of one command, and what has to be told of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedSandbox {
    /// What the kernel holds it to; none for no sandbox.
    pub(crate) plan: Option<Arc<SandboxPlan>>,
    /// What serves its own network, if that has a proxy.
    pub(crate) door: Option<Arc<dyn CommandDoor>>,
    /// Why it may be held to less than policy says, because not every file was looked at.
    pub(crate) incomplete: Option<String>,
    /// What policy says and the sandbox does not hold, each as a sentence.
    pub(crate) not_held: Vec<String>,
    /// Protected places that do not exist. A command that makes one is told of.
    pub(crate) watched: Vec<PathBuf>,
    /// Files in closed directories that the line names and may make. They are made empty before it starts,
    /// because a sandbox opens what exists.
    pub(crate) to_be_made: Vec<PathBuf>,
}

impl PlannedSandbox {
    /// Makes the files that the line may make. The caller keeps what is returned until the command has ended.
    pub(crate) fn make_files(&self) -> MadeFiles {
        let make = |path: &PathBuf| {
            let made = std::fs::File::create_new(path).ok()?;
            Some((path.clone(), made.metadata().ok()?.modified().ok()?))
        };
        MadeFiles(self.to_be_made.iter().filter_map(make).collect())
    }

    /// The places that the command made although other programs run or trust them.
    pub(crate) fn made_places(&self) -> Vec<PathBuf> {
        let exists = |it: &&PathBuf| it.symlink_metadata().is_ok();
        self.watched.iter().filter(exists).cloned().collect()
    }
}

/// Files that were made for a command, and when. Those that it left alone are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct MadeFiles(Vec<(PathBuf, SystemTime)>);

impl MadeFiles {
    /// Leaves the files to a command that goes on in the background.
    pub(crate) fn leave(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFiles {
    fn drop(&mut self) {
        for (path, made) in &self.0 {
            let is_untouched = path.symlink_metadata().is_ok_and(|it| {
                it.is_file() && it.len() == 0 && it.modified().is_ok_and(|it| it == *made)
            });
            if is_untouched {
                // What cannot be removed is empty and does nothing.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Plans sandboxes.
pub(crate) trait SandboxPlanner: Send + Sync {
    /// The sandbox of the command that the call runs. It looks at files.
    fn of_command(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError>;

    /// The sandbox of a hook. It looks at files.
    fn of_hook(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError>;

    /// True when planning takes a moment only: it looks at a few files and walks over none.
    fn is_quick(&self) -> bool;
}

/// Plans the sandboxes of the commands of one call.
#[derive(Clone, Default)]
pub struct CommandSandbox(Option<Arc<dyn SandboxPlanner>>);

impl CommandSandbox {
    /// Commands are held to nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Commands are held to what this says.
    pub(crate) fn planned_by(planner: impl SandboxPlanner + 'static) -> Self {
        Self(Some(Arc::new(planner)))
    }

    /// The sandbox of the command that the call runs.
    pub(crate) async fn of_command(
        &self,
        cancel: &CancellationToken,
    ) -> Result<PlannedSandbox, ToolError> {
        self.planned(cancel, |planner, cancel| planner.of_command(cancel)).await
    }

    /// The sandbox of a hook.
    pub(crate) async fn of_hook(
        &self,
        cancel: &CancellationToken,
    ) -> Result<PlannedSandbox, ToolError> {
        self.planned(cancel, |planner, cancel| planner.of_hook(cancel)).await
    }

    async fn planned(
        &self,
        cancel: &CancellationToken,
        plan: fn(&dyn SandboxPlanner, &CancellationToken) -> Result<PlannedSandbox, ToolError>,
    ) -> Result<PlannedSandbox, ToolError> {
        let Some(planner) = &self.0 else { return Ok(PlannedSandbox::default()) };
        if planner.is_quick() {
            return plan(planner.as_ref(), cancel);
        }
        let (planner, cancel) = (Arc::clone(planner), cancel.clone());
        let result = tokio::task::spawn_blocking(move || plan(planner.as_ref(), &cancel)).await;
        result.unwrap_or_else(|failure| match failure.try_into_panic() {
            // Passed on to the panic fence around the call.
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(_) => Err(ToolError::cancelled()),
        })
    }
}

impl fmt::Debug for CommandSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "as policy says" } else { "none" })
    }
}
