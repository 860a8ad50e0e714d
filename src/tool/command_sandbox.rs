//! What the commands of a call are held to. A caller hands this in, so that tools and hooks start commands in a
//! sandbox without knowing policy.

use std::{fmt, path::PathBuf, sync::Arc};

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
}

impl PlannedSandbox {
    /// The places that the command made although other programs run or trust them.
    pub(crate) fn made_places(&self) -> Vec<PathBuf> {
        let exists = |it: &&PathBuf| it.symlink_metadata().is_ok();
        self.watched.iter().filter(exists).cloned().collect()
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
        let planned = tokio::task::spawn_blocking(move || plan(planner.as_ref(), &cancel)).await;
        planned.unwrap_or_else(|failure| match failure.try_into_panic() {
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
