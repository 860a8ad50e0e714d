//! The sandbox for the commands of a call. The caller provides it, so that tools and hooks start
//! commands in a sandbox without depending on policy.

use std::{fmt, path::PathBuf, sync::Arc, time::SystemTime};

use tokio_util::sync::CancellationToken;
use toolwright_base::ToolError;
use toolwright_command_protocol::SandboxPlan;
use toolwright_process::ProxyStarter;

/// The sandbox of one command, and the notes about it.
#[derive(Clone, Debug, Default)]
pub struct PlannedSandbox {
    /// The limits that the kernel enforces; none for no sandbox.
    pub plan: Option<Arc<SandboxPlan>>,
    /// Serves the command's own network, if that has a proxy.
    pub proxy: Option<Arc<dyn ProxyStarter>>,
    /// Why the sandbox may enforce less than policy demands: not every file was searched.
    pub incomplete: Option<String>,
    /// What policy demands and the sandbox does not enforce, each as a sentence.
    pub not_enforced: Vec<String>,
    /// Protected places that do not exist. If the command creates one, that is reported.
    pub watched: Vec<PathBuf>,
    /// Files in closed directories that the command line names and may create. They are created empty
    /// before it starts, because a sandbox can only open files that exist.
    pub to_be_made: Vec<PathBuf>,
}

impl PlannedSandbox {
    /// Creates the files that the line may create. The caller keeps the returned value until the
    /// command has ended.
    pub fn make_files(&self) -> MadeFiles {
        let make = |path: &PathBuf| {
            let made = std::fs::File::create_new(path).ok()?;
            Some((path.clone(), made.metadata().ok()?.modified().ok()?))
        };
        MadeFiles(self.to_be_made.iter().filter_map(make).collect())
    }

    /// The protected places that the command created although other programs run or trust them.
    pub fn made_places(&self) -> Vec<PathBuf> {
        let exists = |it: &&PathBuf| it.symlink_metadata().is_ok();
        self.watched.iter().filter(exists).cloned().collect()
    }
}

/// Files created for a command, with their times. Untouched ones are removed when this is dropped.
#[derive(Debug)]
pub struct MadeFiles(Vec<(PathBuf, SystemTime)>);

impl MadeFiles {
    /// Leaves the files to a command that continues in the background.
    pub fn leave(mut self) {
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
                // A file that cannot be removed is empty and harmless.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Plans sandboxes.
pub trait SandboxPlanner: Send + Sync {
    /// The sandbox of the command that the call runs. Reads the file system.
    fn of_command(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError>;

    /// The sandbox of a hook. Reads the file system.
    fn of_hook(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError>;

    /// True when planning is fast: it reads a few files and walks no directories.
    fn is_quick(&self) -> bool;
}

/// Plans the sandboxes of the commands of one call.
#[derive(Clone, Default)]
pub struct CommandSandbox(Option<Arc<dyn SandboxPlanner>>);

impl CommandSandbox {
    /// No sandbox.
    pub fn none() -> Self {
        Self(None)
    }

    /// A sandbox from this planner.
    pub fn planned_by(planner: impl SandboxPlanner + 'static) -> Self {
        Self(Some(Arc::new(planner)))
    }

    /// The sandbox of the command that the call runs.
    pub async fn of_command(
        &self,
        cancel: &CancellationToken,
    ) -> Result<PlannedSandbox, ToolError> {
        self.planned(cancel, |planner, cancel| planner.of_command(cancel)).await
    }

    /// The sandbox of a hook.
    pub async fn of_hook(&self, cancel: &CancellationToken) -> Result<PlannedSandbox, ToolError> {
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
        f.write_str(if self.0.is_some() { "planned by policy" } else { "none" })
    }
}
